"""Token counts of each format, made without any code of ours, to compare the adapters with."""
