"""Diagnostics: stable codes, messages, labelled spans, help and edits; rendering."""
