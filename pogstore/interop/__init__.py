"""One foreign format a file: streams in, drafts out. Pure: no disk, no git. Floor 3."""
