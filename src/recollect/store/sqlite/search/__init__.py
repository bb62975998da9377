"""The text index, and which turns a query chooses."""
