"""How fast texts become vectors: the encoder alone, and the whole stage that embeds a store.

The stage reads and unpacks every turn, cuts it into pieces, encodes them,
notes down their words, and writes vectors and blocks.
"""

from __future__ import annotations

from bench.measure import Figure, absolute, spent
from bench.plan import Plan, say
from bench.queries import all_said, ensure_texts
from recollect.embed.static import StaticEncoder

# Of each turn the beginning, which is what was asked.
TEXT_CHARACTERS = 100


def figures(plan: Plan) -> list[Figure]:
    """Both figures; the last store is kept for the suites that need an embedded one."""
    environ = plan.environ(plan.full_store())
    texts = [said[:TEXT_CHARACTERS] for said in all_said(ensure_texts(plan.texts, environ))]
    return [static_encoding(plan, texts), embed(plan)]


def static_encoding(plan: Plan, texts: list[str]) -> Figure:
    """Short texts per second and core, with an encoder that has seen none of them."""

    def speed() -> float:
        encoder = StaticEncoder()
        encoder.encode_documents(["the first text makes the word list"])
        return len(texts) / spent(lambda: encoder.encode_documents(texts))

    samples = [speed() for _ in range(plan.runs_or(5))]
    return absolute(
        "static-encoding",
        "static encoding",
        samples,
        target=15_000,
        unit="texts/s CPU",
        better="higher",
    )


def embed(plan: Plan) -> Figure:
    """Turns per second and core, in a fresh process with the modules it imports."""
    samples = []
    for run in range(plan.runs_or(5)):
        made = plan.embed_copy()
        samples.append(made["turns"] / made["seconds"])
        say(f"embedding {run + 1}: {made['seconds']:.2f} s for {made['pieces']:,.0f} pieces")
    return absolute(
        "embed", "embedding a store", samples, target=None, unit="turns/s CPU", better="higher"
    )
