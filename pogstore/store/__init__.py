"""The only door to git: objects, refs, chains of events and contents, the index, remotes. Floor 3."""
