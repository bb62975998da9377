"""What differs between machines: places, times, repositories, the interpreter, services."""
