"""The machinery that judges an answer, whatever the task."""
