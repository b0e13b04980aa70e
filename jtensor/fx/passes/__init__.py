"""What looks at a whole graph, or makes another one of it."""
