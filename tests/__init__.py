"""The test suite; each file says what it proves."""
