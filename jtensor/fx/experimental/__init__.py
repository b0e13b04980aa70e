"""What PyTorch tries out about graphs. Owns: the names that libraries ask by."""
