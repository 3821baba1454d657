"""Bots for Pasa: teaching policies, the app's four levels."""
