"""What the store can do, by theme: one class each, short
methods that ask the module with the SQL.
"""
