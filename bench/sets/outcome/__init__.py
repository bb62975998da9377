"""Task attempts with the outcome that a careful person would give them."""
