"""What a step takes beyond its bytes and FLOPs, fitted to published measurements."""
