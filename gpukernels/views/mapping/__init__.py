"""Who visits which unit of a workload, technique beside technique."""
