"""Tests of the agents' hooks."""
