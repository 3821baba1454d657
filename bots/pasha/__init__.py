"""Bots for Pasha: uniform play, a greedy bot, four levels from Easy to Master."""
