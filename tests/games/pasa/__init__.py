"""Tests of Pasa, filed by the numbers of its rules."""
