"""What capture brings, on its way into the tables."""
