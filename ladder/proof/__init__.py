"""Stored matches played again: shown move by move, compared, audited, and whom to blame."""
