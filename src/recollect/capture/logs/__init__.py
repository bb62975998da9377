"""What adapters read logs with: lines, documents, databases, folders,
and what most formats have in common.
"""
