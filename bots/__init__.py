"""The bots that ship with Ladder, one package a game."""
