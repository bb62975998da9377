"""What must never lose, double or invent anything, treated badly for half an hour: `make torture`.

Each part is a module with a `rounds` that does something terrible again and
again, and says of each time what did not hold. `campaign.py` lists the parts,
counts what they did and writes it into docs/reliability.md. A sample of each
is a test of the store tier. A fault found by chance is named by the seed of its
round; what is mended leaves a test of its own where its subject is tested.
"""
