"""Grading: submitted notebooks in, points and feedback for each student out."""
