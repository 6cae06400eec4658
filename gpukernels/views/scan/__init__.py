"""The values of a prefix sum after each step."""
