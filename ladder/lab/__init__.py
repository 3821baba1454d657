"""The stake-policy laboratory: sequential comparisons, grids, and exact answers asked for."""
