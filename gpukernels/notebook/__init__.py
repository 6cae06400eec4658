"""What notebooks print and time."""
