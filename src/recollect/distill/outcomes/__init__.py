"""How a task went: what people said, what agents did, and what that proves."""
