"""What commands print, a module for each kind of command."""
