"""Ladder: a headless tournament and bot-ladder runner for the dice games Pasa and Pasha."""
