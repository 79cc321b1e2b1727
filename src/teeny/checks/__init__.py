"""Checks of the intermediate form, one file and one function each."""
