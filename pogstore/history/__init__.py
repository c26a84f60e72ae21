"""Questions about a stored log, answered as values: blame, rollback, verify, tasks. Floor 5."""
