"""Agents: one file an agent, its hook and what it says. Floor 6."""
