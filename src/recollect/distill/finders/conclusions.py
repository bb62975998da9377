"""What agents conclude: sentences of closing replies, and of summaries when a context is compacted.

Most of what is worth knowing is said there, and one sentence in ten is worth telling. Left
out is what only narrates, offers, predicts, reports a change or tells today's state; told
first is what a tool stands behind: a sentence that names a command that was run, a cause
with the name of a thing, a rule of what must be or cannot be. Trust is the agent's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from recollect.distill.finders.cleaning import Sentence, names_in, size, spoken, typed, words
from recollect.distill.finders.cues import cues
from recollect.distill.finders.people import is_secret
from recollect.distill.finders.steps import form, steps
from recollect.model.candidates import Candidate
from recollect.model.notes import Section
from recollect.model.record import SessionRecord, TurnRecord

FEWEST = 40
# With so much of the form of a fact, and a tool behind it, a conclusion is told unasked.
SURE_STRENGTH = 1.6
# Shorter names stand anywhere, and what is said of a run stands near its beginning.
FEWEST_NAMED, OUTPUT_CHARACTERS = 3, 20_000

_CODE = re.compile(r"`([^`]+)`")
_NUMBER = re.compile(r"\b\d+(?:[.:]\d+)*\b")
# What only a tool says: a version, a setting's name, a kind of error.
_PRINTED = re.compile(r"\bv?\d+\.\d+\.\d+\b|\b[A-Z][A-Z_]{4,}\b|\b\w+Error\b")
_PLACE = re.compile(r"\.\w+:\d+|\blines? \d+|#L\d+|:\d+-\d+")
_IDENTIFIER = re.compile(r"session id|[0-9a-f]{8}-[0-9a-f]{4}", re.IGNORECASE)
# What was done to the code is in the code.
CHANGED = re.compile(
    r"^(?:\d+\.\s*)?(?:fixed|resolved|added|updated?|created|removed|implemented|refactored"
    r"|changed|moved"
    r"|renamed|cleaned|verified|ran|checked|confirmed|restored|introduced|adjusted|improved|wired"
    r"|bumped"
    r"|(?:i|we|also) (?:added|updated|fixed|changed|removed|created)|cập nhật|tôi (?:đổi|cũng"
    r"|xác nhận)|ngoài ra|đúng ý"
    r"|done|all (?:conflicts|issues|tests|checks)|build (?:passes|pass)|tests? (?:pass|run|not run)"
    r"|no other files|verification|everything|successfully)\b"
    r"|(?:修正|対応|実装|反映|確認)済み(?:です|で、)|(?:しました|完了です|ありません)。?$|^(?:đã"
    r"|tôi đã|mình đã|已完成|完成) ?",
    re.IGNORECASE,
)
# A task or a place of a list, and what the code does since it was changed.
_REPORTED = re.compile(
    r"^(?:[A-Z]+-?\d+|step \d+|task \d+|\d+[.)])\s|^(?:high|medium|low|critical|minor"
    r"|nit)\b[^:]{0,20}:|\bnow (?!has|is)\w+s\b|\bthe (?:use case|acceptance test|spec)\b",
    re.IGNORECASE,
)
# One of several ways, of which nobody says that it was chosen.
_OPTION = re.compile(
    r"^(?:[A-F]|Option \w+|\d+) — |^(?:plan|option|phase|step|task)(?: \w+)?:", re.IGNORECASE
)
_OPENING = re.compile(
    r"^(?:fixed|found (?:it|the issue)|short answer|good (?:news|catch)|got it"
    r"|perfect)[!:.,] *(?:no|yes)?[ —–-]*",
    re.IGNORECASE,
)
_TO_THE_PERSON = re.compile(r"\byou(?:'ll|'re|r)?\b|\bbạn\b|你|您|あなた", re.IGNORECASE)
# How a command ended is today's state.
_ENDED = re.compile(
    r"^(?:\w+: )?`[^`]+`(?: was| is)?(?: ?[:：はが→-])? ?(?:\(?(?:pass|ok\b|success|fail|clean"
    r"|green)|成功|失敗|通过|失败|実行|đã )",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"because|instead of|since|so that|otherwise|must|only|因为|ため|ではなく|vì|thay vì|nên",
    re.IGNORECASE,
)
# What holds whatever was changed: how a program, a service or a format wants it.
_DEMANDS = re.compile(
    r"\b(?:only (?:accepts?|works?|runs?|supports?|allows?|reads?|loads?|when|if|with)|requires?"
    r"|expects?|rejects?|needs?(?! to check)"
    r"|must (?:be|have|run|use|not)|(?:does|do|will)(?: not|n[’']t) (?:exist|support|accept|work"
    r"|serve|see|load|run|allow)"
    r"|can(?: ?not|[’']t) (?:be|run|use|read|write)|unless|falls? back|default(?:s|ed)? to"
    r"|by default|not available|no such|there is no|has no)\b"
    r"|必要|できません|前提|のみ|必须|只(?:能|支持|读|接受)|不支持|无法|phải|không thể|chỉ |cần ",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:was|were|had|ran|tried|did|came|got|\w+ed)\b", re.IGNORECASE)
# Said by pointing at the sentence before.
_LEANING = re.compile(
    r"^(?:if (?:found|so|not|yes|present|missing)\b|that|this|these|those|it|they|so|then"
    r"|therefore|also|otherwise|instead|the only|the (?:first|second|other|remaining)"
    r"|the (?:fix|change|error|failure|test|code) |note that it|その|これ|それ|この|一方|ただし"
    r"|また|そこ|这|那|因此"
    r"|所以|但|同时|Lỗi (?:đó|này)|Điều (?:đó|này)|Do đó|Vì vậy)",
    re.IGNORECASE,
)
_CUT = ("(e.g.", "e.g.", "（例", ", hay", " or", " and", ":", "：", "…")
_ASKS = re.compile(r"[?？]\s*$")
_OF_A_CHECK = re.compile(r"verif|test|validation|check|確認|検証|验证|kiểm", re.IGNORECASE)
_OF_A_CHANGE = re.compile(
    r"change|what i|update|summary|implement|変更|概要|実施|修改|变更|thay đổi", re.IGNORECASE
)


class _Work:
    """What a session ran and what that printed: what stands behind an agent's words, if it does."""

    def __init__(self, session: SessionRecord) -> None:
        self.forms = frozenset(
            step.form
            for _, call in session.calls()
            if call.kind == "shell"
            for step in steps(call.target, call.folder, session.folder)
        ) - {""}
        self.edits = any(call.kind == "edit" and call.passed for _, call in session.calls())
        self.printed = "\n".join(call.output[:OUTPUT_CHARACTERS] for _, call in session.calls())

    def prints(self, text: str) -> bool:
        """Whether something that a sentence names was printed by a command."""
        names = [*_CODE.findall(text), *_PRINTED.findall(text)]
        return any(len(name) > FEWEST_NAMED and name in self.printed for name in names)

    def ran(self, text: str) -> bool:
        """Whether one of the commands that a sentence names was run."""
        return any(form(code) in self.forms for code in _CODE.findall(text))


def find(session: SessionRecord) -> Iterator[Candidate]:
    """What the agent concludes in a session, at the end of each turn."""
    work = _Work(session)
    for number, turn in enumerate(session.turns):
        after = next(
            (
                typed(later.prompts[0])
                for later in session.turns[number + 1 :]
                if later.by_person and later.prompts
            ),
            "",
        )
        is_refused = "complaint" in cues(after[:200])
        texts = [*turn.replies[-1:], *turn.summaries]
        for text in texts:
            for sentence in spoken(text):
                if found := _candidate(turn, sentence, work, is_refused=is_refused):
                    yield found


def _candidate(
    turn: TurnRecord, sentence: Sentence, work: _Work, *, is_refused: bool
) -> Candidate | None:
    text = _OPENING.sub("", sentence.text)
    # Looking for cues costs most, so what no cue can save goes first.
    if not is_statement(text) or (CHANGED.search(text) and not _WHY.search(text)):
        return None
    found = cues(text)
    if not is_lasting(text, found):
        return None
    runs = [name for code in _CODE.findall(text) if (name := form(code))]
    proven = work.ran(text)
    strength = _strength(sentence, found, proven=proven, is_refused=is_refused)
    is_whole = text[0] not in "(（" and text.endswith((".", "。", "`", ")", "）"))
    return Candidate(
        kind="conclusion",
        section=_section(found, is_run=bool(runs)),
        category="project",
        text=text,
        key="said " + " ".join(words(text)),
        trust="external" if turn.tainted else "assistant",
        strength=strength,
        at=turn.at,
        turn=turn.ref,
        form=runs[0] if runs else "",
        is_sure=(
            is_whole
            and not is_refused
            and strength >= SURE_STRENGTH
            and _is_proven(sentence._replace(text=text), found, work, turn)
        ),
    )


def _is_proven(sentence: Sentence, found: frozenset[str], work: _Work, turn: TurnRecord) -> bool:
    """Whether a command printed what a cause or a limit is about, or how to run a thing was run.

    A cause that was found in a turn that edits files is mended there; a demand stays.
    """
    text = sentence.text
    if "hedge" in found or _REPORTED.search(text) or CHANGED.search(text) or _LEANING.match(text):
        return False
    is_mended = (work.edits and _PAST.search(text)) or any(
        call.kind == "edit" and call.passed for call in turn.calls
    )
    if is_mended and not sentence.has_block and not _DEMANDS.search(text):
        return False
    if sentence.has_block:
        return "run" in found and work.ran(text)
    return bool(found & {"trap", "cause", "limit"}) and work.prints(text)


def is_tellable(text: str, found: frozenset[str]) -> bool:
    """Whether a sentence is a statement that may hold tomorrow."""
    return is_statement(text) and is_lasting(text, found)


def is_statement(text: str) -> bool:
    """Whether a sentence says something, as far as can be seen without knowing words."""
    if size(text) < FEWEST or text.rstrip().endswith(_CUT) or _ASKS.search(text):
        return False
    return not (_OPTION.match(text) or is_secret(text) or _IDENTIFIER.search(text))


def is_lasting(text: str, found: frozenset[str]) -> bool:
    """Whether what it says may hold tomorrow."""
    is_reasoned = bool(found & {"cause", "limit"})
    if "narration" in found or (found & {"offer", "prediction", "passing"}):
        return False
    if _ENDED.search(text) and "cause" not in found:
        return False
    if "social" in found and "limit" not in found:
        return False
    return not (CHANGED.search(text) and not (is_reasoned and _WHY.search(text)))


def _section(found: frozenset[str], *, is_run: bool) -> Section:
    if is_run and "run" in found:
        return "commands"
    return "traps" if found & {"limit", "cause", "trap"} else "decisions"


# Set by hand, as those of what people say.
WEIGHTS = {
    "proven": 1.0, "trap": 0.7, "place": 0.5, "run": 0.5, "block": 0.5, "top": 0.4,
    "condition": 0.3, "environment": 0.4, "cause": 0.4, "lasting": 0.3, "strong": 0.2,
    "complaint": 0.2, "decision": 0.2, "imperative": 0.1, "number": 0.1, "summary": 0.3,
    "hedge": -0.5, "open": -0.5, "limit": 0.0, "done": -0.2, "social": -0.6, "question": -0.3,
    "line of code": -0.4, "refused": -0.4, "to the person": -0.3, "reported": -0.6,
    "check heading": -0.3, "change heading": -0.2, "length": 0.4, "names": 0.15,
}  # fmt: skip
USUAL, TOP = 80, 0.1


def _strength(
    sentence: Sentence, found: frozenset[str], *, proven: bool, is_refused: bool
) -> float:
    text = sentence.text
    facts = {
        **dict.fromkeys(found, 1.0),
        "number": _NUMBER.search(text) is not None,
        "line of code": _PLACE.search(text) is not None,
        "to the person": _TO_THE_PERSON.search(text) is not None,
        "check heading": _OF_A_CHECK.search(sentence.heading) is not None,
        "change heading": _OF_A_CHANGE.search(sentence.heading) is not None,
        "refused": is_refused,
        "reported": _REPORTED.search(text) is not None,
        "proven": proven,
        "block": sentence.has_block,
        "top": sentence.place < TOP,
        "length": math.log(size(text) / USUAL),
        "names": min(4, names_in(text)),
    }
    return sum(WEIGHTS.get(name, 0.0) * amount for name, amount in facts.items())
