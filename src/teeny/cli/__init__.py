"""The `teeny` command: `main` chooses a subcommand, each of which is one file with `arguments` and `run`."""
