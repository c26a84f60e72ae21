"""The work tree: taking drafts in, the safe writer, the active task. Floor 4."""
