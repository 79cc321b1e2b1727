"""The operations of the dialect, and the language functions that are one to one with them: one file a family."""
