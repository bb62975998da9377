"""What is told unasked: made ready by a job, told by hooks, and looked at again afterwards."""
