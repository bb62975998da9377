"""The words of which every sentence is made.

On the path of a hook: nothing is imported.
"""

from __future__ import annotations

# A question is half made of these, and no answer is found by them. They are
# left out unless a query has no other word, or has them inside quotes.
STOP_WORDS = frozenset((
    "a", "about", "after", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "being", "but", "by",
    "can", "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "having",
    "he", "her", "hers", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me", "might", "my",
    "of", "on", "or", "our",
    "out", "over", "s", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their",
    "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "up", "us", "was", "we", "were", "what", "when",
    "where", "which",
    "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
))  # fmt: skip
# Nor does a prompt that goes on, thanks or asks for something say by these what it is about.
OF_REQUESTS = frozenset((
    "above", "again", "also", "continue", "don", "each", "get", "hello", "here", "hi", "im", "ive",
    "let", "lets", "like", "ll", "m", "make", "more", "need", "no", "not", "now", "ok", "okay",
    "only", "other", "please", "re", "same", "still", "thank", "thanks", "use", "using", "ve",
    "want", "yes",
))  # fmt: skip
