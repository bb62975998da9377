"""What is known of models that people use: how they want to be asked.

Most encoders were trained with words before each text that say whether it is
a question or a document; without them they work, only worse, and nobody is
told. So the words are filled in here from each model's own card, found by the
name under which the model is usually kept. What the settings say wins.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.settings import Settings

POOLINGS = ("mean", "cls", "last")


class Known(NamedTuple):
    """One model's facts; empty or 0 where there is nothing to say."""

    query_prefix: str = ""
    document_prefix: str = ""
    pooling: str = ""
    dimensions: int = 0


class Reading(NamedTuple):
    """How texts are put to a model, once settings and facts are weighed."""

    query_prefix: str
    document_prefix: str
    pooling: str


_SEARCHING = "Represent this sentence for searching relevant passages: "
_PASSAGES = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
# As above, in the spelling of the E5 cards: there the question follows a space.
_E5_PASSAGES = _PASSAGES + " "

# Pattern of a name in small letters with dashes: facts. The first that is
# found counts, so the narrow come first.
MODELS: dict[str, Known] = {
    "nomic-embed-code": Known(
        "Represent this query for searching relevant code: ", "", "last", 3584
    ),
    "nomic-embed-text": Known("search_query: ", "search_document: ", "mean", 768),
    "multilingual-e5-large-instruct": Known(_E5_PASSAGES, "", "mean", 1024),
    "e5-mistral-7b-instruct": Known(_E5_PASSAGES, "", "last", 4096),
    "e5-small": Known("query: ", "passage: ", "mean", 384),
    "e5-base": Known("query: ", "passage: ", "mean", 768),
    "e5-large": Known("query: ", "passage: ", "mean", 1024),
    "bge-small-en": Known(_SEARCHING, "", "cls", 384),
    "bge-base-en": Known(_SEARCHING, "", "cls", 768),
    "bge-large-en": Known(_SEARCHING, "", "cls", 1024),
    "bge-m3": Known("", "", "cls", 1024),
    "gte-modernbert-base": Known("", "", "cls", 768),
    "gte-multilingual-base": Known("", "", "cls", 768),
    "gte-base-en-v1.5": Known("", "", "cls", 768),
    "gte-large-en-v1.5": Known("", "", "cls", 1024),
    "gte-small-zh": Known("", "", "cls", 512),
    "gte-base-zh": Known("", "", "cls", 768),
    "gte-large-zh": Known("", "", "cls", 1024),
    "gte-small": Known("", "", "mean", 384),
    "gte-base": Known("", "", "mean", 768),
    "gte-large": Known("", "", "mean", 1024),
    "mxbai-embed-large": Known(_SEARCHING, "", "cls", 1024),
    "arctic-embed-m-v2.0": Known("query: ", "", "cls", 768),
    "arctic-embed-l-v2.0": Known("query: ", "", "cls", 1024),
    "snowflake-arctic-embed2": Known("query: ", "", "cls", 1024),
    "arctic-embed-xs": Known(_SEARCHING, "", "cls", 384),
    "arctic-embed-s": Known(_SEARCHING, "", "cls", 384),
    "arctic-embed-m": Known(_SEARCHING, "", "cls", 768),
    "arctic-embed-l": Known(_SEARCHING, "", "cls", 1024),
    "snowflake-arctic-embed": Known(_SEARCHING, "", "cls"),
    "all-minilm": Known("", "", "mean", 384),
    "multi-qa-minilm": Known("", "", "mean", 384),
    "paraphrase-multilingual-minilm": Known("", "", "mean", 384),
    "all-mpnet-base": Known("", "", "mean", 768),
    "jina-embeddings-v2-small": Known("", "", "mean", 512),
    "jina-embeddings-v2-base": Known("", "", "mean", 768),
    "jina-embeddings-v3": Known(
        "Represent the query for retrieving evidence documents: ",
        "Represent the document for retrieval: ",
        "mean",
        1024,
    ),
    "qwen3-embedding-0.6b": Known(_PASSAGES, "", "last", 1024),
    "qwen3-embedding-4b": Known(_PASSAGES, "", "last", 2560),
    "qwen3-embedding-8b": Known(_PASSAGES, "", "last", 4096),
    "qwen3-embedding": Known(_PASSAGES, "", "last"),
    "embeddinggemma": Known("task: search result | query: ", "title: none | text: ", "mean", 768),
    "text-embedding-3-small": Known(dimensions=1536),
    "text-embedding-3-large": Known(dimensions=3072),
    "text-embedding-ada-002": Known(dimensions=1536),
}

# A file is often called only model.onnx, in a folder called onnx, in one with the model's name.
_PARTS = 3


def find_known(model: str) -> Known:
    """The facts of a model by its name or path; empty ones when it is not known."""
    parts = re.sub(r"[_\s:]", "-", model.lower()).replace("\\", "/").rstrip("/").split("/")
    for part in reversed(parts[-_PARTS:]):
        for name, facts in MODELS.items():
            # A name may end anywhere ("-q8-0.gguf") but must begin where a
            # word does: "code5-base" is no E5.
            if re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", part):
                return facts
    return Known()


def reading(settings: Settings, known: Known) -> Reading:
    """What the settings say, even when they say that a prefix is empty.

    Where they are silent, what is known.
    """
    pooling = settings.text("embed.pooling")
    if pooling and pooling not in POOLINGS:
        raise SettingsError(
            f'There is no embed.pooling "{pooling}".', hint=f"Choose {', '.join(POOLINGS)}."
        )
    return Reading(
        settings.text("embed.query_prefix")
        if settings.says("embed.query_prefix")
        else known.query_prefix,
        settings.text("embed.document_prefix")
        if settings.says("embed.document_prefix")
        else known.document_prefix,
        pooling or known.pooling,
    )
