"""Speed, each question by a script of its own, beside a peer in the same run."""
