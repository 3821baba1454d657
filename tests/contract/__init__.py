"""What every game and every bot must hold; a new one is tested with no edit here."""
