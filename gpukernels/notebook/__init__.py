"""Tools with which notebooks print results and measure times."""
