"""Our own set: invented sessions, the questions a developer would ask
of them, and the turns that answer.
"""
