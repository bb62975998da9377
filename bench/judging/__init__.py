"""What recall is judged by: labelled sets, the stores made from them,
and the figures over what is found.
"""
