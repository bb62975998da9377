"""What people say about how to work here: wishes that last, corrections, complaints.

A wish is told in the person's own words, the first time it is said. Its form decides, in
any language: words that outlive a task ("from now on", 以后, 今後, luôn) count at once;
prohibitions and corrections less, because most are about the task at hand. A clause that is
typed again in three sessions counts whatever its language is, unless the whole prompt comes
again: then it is a template, which says it the next time too. Questions, requests to explain,
pasted logs and anything that looks like a secret are never told.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.distill.finders.cleaning import Clause, clauses, names_in, size, words
from recollect.distill.finders.cues import CAPITALS, cues
from recollect.model.candidates import Candidate
from recollect.model.record import SessionRecord, TurnRecord

# Shorter ones point at something; with a strong cue they may be whole ("in English please").
FEWEST, FEWEST_STRONG = 24, 10
# What is typed in so many sessions is a habit.
AGAIN_SESSIONS = 3
# What comes again with so much else was pasted.
TEMPLATE_CLAUSES = 3

SECRET = re.compile(
    r"pwd ?(?:ha|is|=|:)|\b(?:pwd|password|passwd|passcode|secret|api[_ -]?key|token"
    r"|credential)s?\b"
    r"\s*(?:is|ha|=|:|は|是|là)?\s*[\"'`]?[\w!@#$%^&*-]{3,}|密码|パスワード.{0,6}\w{3,}|mật khẩu"
    r"|\[REDACTED",
    re.IGNORECASE,
)
_NAMED_SECRET = re.compile(r"[A-Z_]{4,}(?:KEY|TOKEN)")
_COMMAND = re.compile(r"^[/!][\w:-]+(?:\s|$)")
_PASTED = re.compile(
    r"^(?:/home/runner|/usr/|/tmp/|Exception|Traceback|# |\[\w|\d+\)|npm (?:ERR|WARN|notice|http"
    r"|error|info|verbose)|> |\w+@|In @|Verify each|Prompt for AI"
    r"|Code Review|Command:|Chunk ID|Wall time|Output:|Process exited|(?:[Ee]rror|[Ww]arning"
    r"|ERROR|WARN(?:ING)?)\b.{0,12}:"
    r"|at \w+|[✓✗×✘❯>┃│╭╰|+]|\d+ \||[\d.]+ (?:npm|error)|[\"']?[A-Z_]{6,}:|\S+\.(?:json|py|ts"
    r"|md) \w+)"
    r"|(?:失敗|エラー|lỗi|thất bại|报错|错误|[Ee]rror|[Ff]ailed)\s*[:：]\s*\S|line \d+:|\.(?:py"
    r"|ts|tsx"
    r"|js):\d+|<\w+>|^[a-z][\w.]*\(|node:internal|at async|https?://\S+$"
)
_TOKEN = re.compile(r"^(?:https?://\S+|[\w./\\:@-]+)$", re.ASCII)
# Said about the speaker, or about nothing.
_IDLE = re.compile(
    r"\bi (?:don'?t|do not|didn'?t) (?:know|need(?! (?:an?|any|your|you) )|think|see|understand"
    r"|have|care|get)\b|\bnever ?mind\b|\bi'?m not sure\b"
    r"|^(?:keep (?:going|working|doing)|continue|go on)\b|^\W*[),;]|^\W*\.(?!\w)|\bnot sure\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"^(?:ok|okay|yes|no|and|but|so|also|then|it|that|this|these|those|he|they)\b.{0,20}$",
    re.IGNORECASE,
)
# Words that go on from what was said before, or lead into what is asked.
_GOES_ON = re.compile(
    r"^(?:and|or|but|also|so|then|plus|yes|yeah|ok|okay|now|lastly|finally|next|btw|by the way|-"
    r"|\()\b|^[(\-]"
    r"|^(?:và|còn|giờ|à|ok)\b|^(?:然后|另外|其次|还有|好的?|可以[，,]|それと|あと|では)",
    re.IGNORECASE,
)
# What somebody did or has, not what they want.
_REPORTS = re.compile(
    r"^(?:i|we|it)(?:'ve| have|'m| am| just| still| get| got| keep| see| pushed| did| was)\b"
    r"|^there (?:is|are|was)\b"
    r"|^(?:tôi|mình) (?:vừa|mới|đã)\b|^我(?:已经|刚|看过|本地)",
    re.IGNORECASE,
)
# How somebody is, which asks nothing of an agent.
_OF_ONESELF = re.compile(
    r"^i (?:always|never|still|often|usually) (?:forget|think|wonder|thought|mix|get|see|miss)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_NUMBERS = re.compile(r"\d+")
# Said by pointing at what stood before it.
_POINTED = re.compile(
    r"\b(?:this|that|these|those|it|cái này)\b(?! (?:repo|project|code|app|machine|branch|team))"
    r"|这个(?!项目|仓库|工程)|那个|これ|それ",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:below|above|following|as follows|như sau|dưới đây)\b|以下|下記|上記|下面|上面|如下",
    re.IGNORECASE,
)
# How a thing of the program should be.
_OF_A_THING = re.compile(
    r"^(?:so |and |but |also |then )?(?:the|this|that|it|its|there|an?)\b.{0,60}\b(?:should"
    r"|must)\b",
    re.IGNORECASE,
)
# What is seen of the program: how that should be is a task, unless it is for good.
_OF_A_SCREEN = re.compile(
    r"\b(?:buttons?|icons?|tool ?tips?|columns?|modals?|dialogs?|pop-?ups?|sidebars?|navbars?"
    r"|scroll\w*|fonts?|colou?rs?|margins?|padding|placeholder|drop-?down|check ?box|spinner)\b"
    r"|ボタン|アイコン|ダイアログ|サイドバー|スクロール|文字サイズ|フォント|余白|背景色|按钮|图标"
    r"|弹窗|侧边栏|字体|滚动|下拉|nút|biểu tượng|버튼|아이콘"
    r"|кнопк|\b(?:Schaltfläche|bouton|botón|botão|pulsante)\b",
    re.IGNORECASE,
)
# One way in place of another: a choice that the code may not show.
_IN_PLACE_OF = re.compile(
    r"^(?:ok(?:ay)?[.,]? )?(?:please |let'?s )?(?:use|prefer|write|put|run"
    r"|call)\b.{2,80}\b(?:instead of|rather than|over|not)\b"
    r"|\b(?:au lieu de|plutôt que|en (?:vez|lugar) de|em vez de|invece di|in plaats van|zamiast"
    r"|(?:an)?statt)\b"
    r"|вместо|말고|대신|ではなく(?!な)|而不是|thay vì",
    re.IGNORECASE,
)
# What the task at hand is to leave alone.
_SCOPE = re.compile(
    r"\b(?:do not|don['’]?t|never|without|not) (?:chang|chand|modif|touch|alter|edit|break"
    r"|remov)\w*"
    r" (?:[^.!?]{0,60} )?(?:any ?thing|others?|existing|the rest|else)\b",
    re.IGNORECASE,
)
# What wants an answer whatever else it says.
_ENDS_ASKING = re.compile(
    r"(?:教えて|説明して|リストアップして|列挙して|告诉我|解释一下)(?:ください|下さい)?。?$"
)
# What somebody plans or did, in Japanese the same form as a reply has.
_STATED = re.compile(
    r"(?<!お願い)(?:します|しました|となります|いきます|され(?:る|た|ます|ました)|なった|だった"
    r"|でした)。?$"
)
# A bullet or a number that is left of a list, and words that only go on.
_LED = re.compile(
    r"^(?:-\s+|\d{1,2}[.)、](?=\D)|(?:(?:and|but|so|then|ok(?:ay)?|yes|btw"
    r"|also)\b[.,:]? +)+(?=\w{2}))",
    re.IGNORECASE,
)
_UNFINISHED = ("—", "–", "-", "(", " and", " or", " là", " the", " to", ",", "，", "、", "…")
_CODE_SIGNS = frozenset("{}[]()<>;=|\\")
_MOST_CODE = 0.12
# What is told as a wish at all: one of these cues.
_WISHES = frozenset(
    ("lasting", "strong", "language", "policy", "complaint", "of the agent", "decision", "limit",
     "trap", "cause", "environment", "imperative", "condition", "place", "run", "request",
     "correction")
)  # fmt: skip


_ASKED = re.compile(
    r"[?？]\s*$|\b(?:can|could|would|do|did) (?:you|we|i)\b|\b(?:tell|show) me\b", re.IGNORECASE
)


class _Said(NamedTuple):
    """A clause with where it was said."""

    clause: Clause
    turn: TurnRecord
    session: str
    after_stop: bool
    words: str
    """What is the same when it is typed again, with other numbers."""


def find(sessions: Sequence[SessionRecord]) -> Iterator[Candidate]:
    """What people say in sessions that may hold beyond them."""
    prompts = [said for session in sessions if session.interactive for said in _prompts(session)]
    said_in: defaultdict[str, set[str]] = defaultdict(set)
    for prompt in prompts:
        for said in prompt:
            said_in[said.words].add(said.session)
    again = {words for words, found in said_in.items() if len(found) >= AGAIN_SESSIONS}
    for prompt in prompts:
        repeated = sum(said.words in again for said in prompt)
        is_template = repeated >= TEMPLATE_CLAUSES or 2 * repeated > len(prompt) > 1
        for said in prompt:
            # What is typed again alone is a task that comes again.
            is_habit = said.words in again and len(prompt) > 1 and not is_template
            if found := _candidate(said, is_habit=is_habit, is_template=is_template):
                yield found


def _prompts(session: SessionRecord) -> Iterator[list[_Said]]:
    """The clauses of each prompt, without what the agent had said itself."""
    was_stopped = False
    replies = ""
    for turn in session.turns:
        if turn.by_person:
            for number, prompt in enumerate(turn.prompts):
                yield [
                    _Said(
                        clause, turn, session.ref, was_stopped or number > 0,
                        " ".join(words(_NUMBERS.sub("0", clause.text))),
                    )
                    for clause in clauses(prompt)
                    if clause.text not in replies
                ]  # fmt: skip
            was_stopped = False
        was_stopped = was_stopped or turn.aborted
        replies += "\n".join(turn.replies)


def _candidate(said: _Said, *, is_habit: bool, is_template: bool) -> Candidate | None:
    clause, turn = said.clause, said.turn
    text = _LED.sub("", clause.text.strip(" \t\"'“”*_#")).strip()
    found = cues(text)
    is_habit = is_habit and size(text) >= FEWEST
    if not text or not is_tellable(text, found | ({"lasting"} if is_habit else frozenset())):
        return None
    return Candidate(
        kind="person",
        section="preferences",
        category="preference",
        text=f'"{text}"',
        key="said " + " ".join(words(text)),
        trust="user",
        strength=_strength(text, found, clause, after_stop=said.after_stop),
        at=turn.at,
        turn=turn.ref,
        is_sure=not is_template and (is_habit or _is_sure(text, found, said)),
    )


def _is_sure(text: str, found: frozenset[str], said: _Said) -> bool:
    """Whether a clause says how to work here whatever the task: a rule, a correction."""
    if (
        text.endswith(_UNFINISHED)
        or _STATED.search(text)
        or _OF_ONESELF.search(text)
        or (_POINTED.search(text) and size(text) < SHORT)
    ):
        return False
    if "observed" in found and not found & {"strong", "of the agent", "language"}:
        return False
    is_bound = bool(found & {"request", "hedge"}) or said.clause.listed or _ELSEWHERE.search(text)
    if "lasting" not in found and is_bound:
        # Asked for now, but with where it holds.
        return {"only", "condition"} <= found
    if found & {"lasting", "language", "of the agent", "correction"}:
        return True
    if "policy" in found and not found & {"observed", "complaint"}:
        return True
    if "strong" not in found or _OF_A_THING.search(text) or _OF_A_SCREEN.search(text):
        return False
    return bool(
        found & {"negation", "only"}
        or said.after_stop
        or _is_stressed(text)
        or ((chosen := _IN_PLACE_OF.search(text)) and not _POINTED.search(text[: chosen.end()]))
    )


def _is_stressed(text: str) -> bool:
    """Whether some words are in capitals; where all are, none is."""
    return CAPITALS.search(text) is not None and not text.isupper()


def is_tellable(text: str, found: frozenset[str]) -> bool:
    """Whether a clause is a statement that somebody made, not pasted, asked or secret."""
    is_strong = bool(found & {"lasting", "strong", "language", "policy"})
    if not found & _WISHES:
        return False
    if size(text) < (FEWEST_STRONG if is_strong else FEWEST) or _TOKEN.match(text):
        return False
    if is_secret(text) or _COMMAND.match(text) or _PASTED.search(text) or _POINTS.match(text):
        return False
    if unicodedata.category(text[0]) in ("So", "Sm", "Sk", "Co"):
        # How a terminal's interface begins its lines.
        return False
    if _IDLE.search(text) or _is_asked(text, found):
        return False
    if text.endswith((":", "：")) or sum(char in _CODE_SIGNS for char in text) > _MOST_CODE * len(
        text
    ):
        return False
    return " " in text[:60] or size(text) > len(text)


def _is_asked(text: str, found: frozenset[str]) -> bool:
    """Whether a clause wants an answer: "what" and "how" stand in statements too."""
    if _ENDS_ASKING.search(text):
        return True
    if "question" not in found or found & {"lasting", "of the agent"}:
        return False
    return not found & {"policy", "correction"} or _ASKED.search(text) is not None


def is_secret(text: str) -> bool:
    """Whether a text may give a secret away."""
    return bool(
        SECRET.search(text) and re.search(r"\d|=|:|\[", text) and not _NAMED_SECRET.search(text)
    )


# Set by hand; signs and sizes were compared with what tells gold from the rest in every
# repository left out in turn, and only what agreed in all of them was moved.
WEIGHTS = {
    "lasting": 1.3, "strong": 1.0, "language": 1.0, "policy": 1.0, "observed": -1.0,
    "of the agent": 0.5, "imperative": 0.3, "run": 0.4, "condition": 0.3, "cause": 0.2,
    "decision": 0.2, "environment": -0.1, "complaint": -0.2, "correction": 0.6,
    "trap": -0.5, "hedge": -0.6, "done": -0.4, "social": -0.9, "question": -1.1, "passing": -0.6,
    "offer": -0.5, "narration": -0.3, "forbids": 0.4, "only asks": -0.7, "goes on": -0.5,
    "reports": -0.6, "scope": -1.1, "shouted": -0.8, "capitals": 0.3, "after stop": 0.6,
    "opens": 0.3, "listed": -0.6, "number": 0.2, "short": -0.5,
    "length": 0.35, "names": 0.15, "long prompt": -0.5,
}  # fmt: skip
USUAL, SHORT = 80, 40
# From here on a prompt reads like a template or a specification.
LONG_PROMPT = 500


def _strength(text: str, found: frozenset[str], clause: Clause, *, after_stop: bool) -> float:
    facts = {
        **dict.fromkeys(found, 1.0),
        "question": "question" in found and (_is_asked(text, found) or "lasting" in found),
        "forbids": {"strong", "negation"} <= found,
        "only asks": "request" in found and not found & {"lasting", "strong"},
        "goes on": _GOES_ON.search(text) is not None,
        "narration": "narration" in found and "policy" not in found,
        "reports": "policy" not in found and _REPORTS.search(text) is not None,
        "scope": _SCOPE.search(text) is not None,
        "capitals": _is_stressed(text),
        "shouted": text.isupper() and not _SCOPE.search(text),
        "number": _NUMBER.search(text) is not None,
        "short": size(text) < SHORT
        and not (found & {"lasting", "policy", "language"} or {"strong", "negation"} <= found),
        "after stop": after_stop,
        "opens": clause.opens,
        "listed": clause.listed,
        "length": math.log(size(text) / USUAL),
        "names": min(4, names_in(text)),
        "long prompt": max(0.0, math.log(clause.prompt_characters / LONG_PROMPT)),
    }
    return sum(WEIGHTS.get(name, 0.0) * amount for name, amount in facts.items())
