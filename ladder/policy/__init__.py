"""Compiled policies: checking that a policy means the same compiled, and compiling it."""
