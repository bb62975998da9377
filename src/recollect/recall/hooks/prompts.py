"""What a prompt calls up among the lines that are ready to be told: mostly nothing.

This is what a hook says at every prompt, and what `recall` says about one. One question
decides, would this line change what the agent does next (`recall.hooks.chances`), and there
is nothing to ask about a command to the agent, a prompt that was given often before, and what
the session has in its context anyway.

On the path of a hook: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.recall.hooks.words import LEAST_WORDS, MOST_CHARACTERS, is_file, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from recollect.recall.hooks.chances import LineMatch, PromptWords
    from recollect.store.hook_lines import HookLine
    from recollect.store.sqlite.ready import Ready

# Chosen with the weights on open logs, see docs/recall.md: below it is better to say nothing.
LIKELY = 0.4
# Others are only told if they are nearly as likely to help as the best.
NEARLY = 0.6
MOST_LINES = 3
# A session that was told the best ones is told the next.
MOST_READ = 20
# A prompt that so many turns of the project began with is a form that is sent again and again:
# they say what it says.
FORM_COPIES = 2
# Two prompts that share so much of their words are the same, if these are enough.
SAME, LEAST_SAME = 0.9, 3


def tell(
    ready: Ready,
    project: int,
    prompt: str,
    *,
    session: str | None = None,
    told_before: Callable[[], set[str]] = set,
) -> list[tuple[HookLine, float]]:
    """The lines of a project that help with a prompt, surest first, each with how likely that is.

    None of the session that the prompt is given in, and none of what it was told before, which
    is asked for when there is something to tell.
    """
    if is_command(prompt):
        return []
    words = list(dict.fromkeys(words_in(prompt[:MOST_CHARACTERS])))
    if len(words) < LEAST_WORDS:
        return []
    counts = ready.counts(words)
    if len(counts) < LEAST_WORDS and not any(map(is_file, counts)):
        return []
    # Loaded once there is something to weigh: mostly a hook has hardly more to do than to start.
    from recollect.recall.hooks.chances import PromptWords, chances, weigh

    asked = PromptWords(words, counts, ready.total())
    running = ready.session(session) if session else None
    known = {
        place: (facts, of)
        for place, facts, of in ready.facts(project)
        if running is None or of != running
    }
    lines = weigh(asked, known, ready.postings(project, asked.weights))
    if is_form(lines.values(), asked):
        return []
    scored = chances(asked, known, lines)
    best = sorted(scored, key=lambda place: (-scored[place], -place))
    best = [place for place in best if scored[place] >= LIKELY][:MOST_READ]
    if not best:
        return []
    told = ready.prompt_lines(project, best)
    before = told_before()
    fresh = [place for place in best if not before.issuperset(told[place].refs.split())]
    return [
        (told[place], round(scored[place], 3))
        for place in fresh[:MOST_LINES]
        if scored[place] >= NEARLY * scored[best[0]]
    ]


def is_form(lines: Iterable[LineMatch], asked: PromptWords) -> bool:
    """Whether a prompt was given so often in the same words that it is a form."""
    least = max(LEAST_SAME, SAME * len(asked.weights))
    same = [line for line in lines if line.prompt >= least]
    if len(same) < FORM_COPIES:
        return False
    from recollect.recall.hooks.facts import unpacked

    return sum(unpacked(line.facts).asked * SAME <= asked.different for line in same) >= FORM_COPIES


def is_command(prompt: str) -> bool:
    """Whether a prompt is a command to the agent or the shell, not words about work."""
    return prompt.lstrip().startswith(("/", "!", "<command-"))
