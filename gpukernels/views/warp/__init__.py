"""The lanes of warps step by step, beside the source."""
