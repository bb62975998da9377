"""How a call ended: whether it passed, failed, or nobody can know. Decided here and nowhere else.

A log says what the agent's client saw, which is the end of a whole line. That
is not how the work in it ended: `npm test | tail` exits with what `tail` says,
`npm test || true` always with 0, and `grep` says with 1 that there is no such
line. So what the log says is weighed against the command:

- No logged end: unknown. Silence is no success.
- Exit 1 of a program that answers a question with it is an answer.
- An exit code after a pipe, a `;` or a `||` is that of the last command. What
  stood before it has passed only when the output says so, or when it can only
  look and would have complained in the output (not with `2>/dev/null`).

Everything else is as the log says.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.reading.checks import is_check, last_words_tell
from recollect.reading.programs import base, launched, looks_only, names
from recollect.reading.shell import Piece, grammar, pieces, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.calls import Ending

# Programs whose exit code 1 answers what they were asked.
_ANSWERING = names("rg grep egrep fgrep zgrep ag diff cmp test [ [[ pgrep which")
_ANSWERING_GIT = {
    "diff": ("--quiet", "--exit-code", "--no-index"),
    "merge-base": ("--is-ancestor",),
    "grep": (),
}
# What they do is done or complained of, in a line that begins with their name.
_COMPLAINING = names(
    "awk cat chmod chown cp cut date echo file find grep head kill killall ln ls md5sum mkdir "
    "mktemp mv nl pgrep pkill printf pwd readlink realpath rg rm rmdir sed sha256sum shasum sort "
    "stat tail tee touch tr tree uniq wait wc which xargs"
)
# The exit code of `timeout` when time was up: somebody wanted to look for a while.
_TIME_WAS_UP = 124
# `echo "exit: $?"` tells what the line hides.
_ASKS_STATUS = re.compile(r"\$\?|PIPESTATUS|LASTEXITCODE")
_STATUS = re.compile(
    r"\b(?:exit(?:[ _-]?(?:code|status))?|status|code|rc|ret)\b\W{0,3}(-?\d{1,3})$"
    r"|^(-?\d{1,3})\s*\Z",
    re.IGNORECASE | re.MULTILINE,
)
_STOPS_AT_ERRORS = re.compile(r"(?:^|[;&\n])\s*set\s+(?:-o errexit|-[a-z]*e)")
_BROKE = re.compile(
    r"^Traceback \(most recent call last\)|^(?:/\S+/)?(?:ba|z|da)?sh: .*(?:not found|No such file)"
    r"|: command not found$",
    re.MULTILINE,
)

# What a line has that does more than one thing, or that the shell's grammar begins.
_MORE_THAN_ONE = re.compile(r"[|&;\n]|\b(?:for|while|until|if|case|select|function)\b")
_STAYED = re.compile(r"^(?:\S+: (?:(?:line )?\d+: )?|zsh:)?(?:cd|pushd):", re.MULTILINE)
_GIT_COMPLAINS = re.compile(r"^(?:fatal|error): ", re.MULTILINE)
# What is told to nobody is no witness.
_MUTED = re.compile(
    r"(?:2|&|\*)>>?\s*(?:/dev/null|\$null|nul\b)|>>?\s*/dev/null\s+2>&1", re.IGNORECASE
)


def ending_of(
    kind: str | None, target: str | None, said: bool | None, exit_code: int | None, output: str
) -> Ending:
    """How a call ended, of what its log says: `said` of its success, its exit code and output."""
    if said is None and exit_code is not None:
        said = exit_code == 0
    if said is None:
        return "unknown"
    if kind != "shell" or not target:
        return "passed" if said else "failed"
    if not said:
        if exit_code == _TIME_WAS_UP and "timeout" in target:
            return "unknown"
        if exit_code != 1 or not answers(target):
            return "failed"
        # Nothing was asked where the shell could not go.
        if _complains(_asked(target), output) or _STAYED.search(output):
            return "failed"
    elif "cd" in target and _STAYED.search(output):
        return "unknown"  # The rest of the line ran somewhere else than it says.
    return _hidden(target, output)


@lru_cache(4096)
def answers(command: str) -> bool:
    """Whether an exit code of 1 is what the last command of a line answers a question with."""
    line = pieces(command)
    if not line or grammar(command) or not _is_answering(line[-1]):
        return False
    # What an `&&` hangs on may have been what failed.
    return all(
        piece.after != "&&" or looks_only(piece) or _is_answering(piece) for piece in line[:-1]
    )


def _asked(command: str) -> str:
    """The program that a line ends with, to which its exit code belongs."""
    words = pieces(command)[-1].words
    return base(words[launched(words)]) if words[launched(words) :] else ""


def _is_answering(piece: Piece) -> bool:
    program, *rest = piece.words[launched(piece.words) :] or [""]
    if piece.words[:2] == ["command", "-v"]:
        return True
    if base(program) != "git":
        return base(program) in _ANSWERING
    for name, options in _ANSWERING_GIT.items():
        if name in rest[:3]:
            return not options or any(option in rest for option in options)
    return False


def _hidden(command: str, output: str) -> Ending:
    """How a line ended that exited well: what its end says nothing about must show."""
    if not _MORE_THAN_ONE.search(command):
        return "passed"
    hidden = hidden_in(command)
    if not hidden:
        return "unknown" if _is_left_running(command) else "passed"
    if _ASKS_STATUS.search(command) and (codes := list(_STATUS.finditer(output))):
        fine = (0, 1) if all(map(_answers_or_looks, hidden)) else (0,)
        return "passed" if all(int(code[1] or code[2]) in fine for code in codes) else "failed"
    # Of what it hides, the checks tell most.
    ends = [last_words_tell(output) for words in hidden if is_check(" ".join(words))]
    if ends:
        return "unknown" if ends[0] is None else "passed" if ends[0] else "failed"
    if _BROKE.search(output):
        return "failed"
    if _MUTED.search(command):
        return "unknown"
    quiet = all(_is_quiet(words, output) for words in hidden)
    return "passed" if quiet else "unknown"


def _answers_or_looks(words: tuple[str, ...]) -> bool:
    piece = Piece(list(words), [], "")
    return _is_answering(piece) or looks_only(piece)


@lru_cache(4096)
def _is_left_running(command: str) -> bool:
    """Whether a line does nothing but start something that nobody waits for."""
    line = [piece for piece in pieces(command) if piece.words]
    return bool(line) and all(piece.after == "&" for piece in line)


@lru_cache(4096)
def hidden_in(command: str) -> tuple[tuple[str, ...], ...]:
    """The words of those commands of a line about which its good end says nothing."""
    line = pieces(command)
    pipes = "pipefail" not in command
    stops = _STOPS_AT_ERRORS.search(command) is not None
    if stops or not pipes:
        line = tuple(
            Piece(piece.words, piece.writes, _as_chained(piece.after, stops, pipes), piece.folder)
            for piece in line
        )
    loops = grammar(command) and not stops
    # What is left in the background is not waited for by anybody, except by a `wait` for all
    # of it, which then exits with 0 whatever came of that.
    waits = any(piece.words == ["wait"] for piece in line)
    return tuple(
        tuple(piece.words)
        for index, piece in enumerate(line)
        # An `exit` that was come to has ended the line with what it says.
        if piece.words
        and piece.words[0] not in ("exit", "return")
        and (piece.after != "&" or waits)
        and (loops or told(True, line, index) is not True)
    )


def _as_chained(operator: str, stops: bool, pipes: bool) -> str:
    """An operator as the settings of a shell make it: one that goes on only after success."""
    if (stops and operator in (";", "\n")) or (not pipes and operator in ("|", "|&")):
        return "&&"
    return operator


def _is_quiet(words: tuple[str, ...], output: str) -> bool:
    """Whether a command only looks, or says so when it fails, and has not complained."""
    piece = Piece(list(words), [], "")
    program = base(words[0])
    if program not in _COMPLAINING and not looks_only(piece):
        return False
    return not _complains(program, output)


def _complains(program: str, output: str) -> bool:
    """Whether an output has a line in which a program says what is wrong."""
    if program == "git":
        return _GIT_COMPLAINS.search(output) is not None
    return f"{program}: " in output and bool(
        re.search(rf"^(?:\S+: (?:(?:line )?\d+: )?)?{re.escape(program)}: ", output, re.MULTILINE)
    )
