"""Gets out of a damaged file what is still in it."""
