"""Secrets that have a name: `FOO_TOKEN=...`, `"apiKey": "..."`, `--password ...`.

Every language and tool writes an assignment its own way, and logs add quotes
that were escaped once or twice. One pattern reads them all from the telling
word in the name onwards; the name is then read backwards. The name decides how
much the value must look like a secret (`Bar`), and `values` judges the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from recollect.redact.contexts import CONTEXTS, ContextRule
from recollect.redact.rules import ANSI, Compile, IsName, PossibleSecret, RuleText, never
from recollect.redact.values import (
    Bar,
    is_code,
    is_stand_in,
    is_weak_secret,
    looks_secret,
    words,
)

_WORDS = "token|secret|pass|pwd|key|credential|auth|client|accessid|access_id|contribsys"
_TAIL = r"[A-Za-z0-9_.\-]{0,40}"
_CLOSE = r"(?:\\{0,6}(?:[\"'`]|&quot;)\]?|\*{2})?"
_TYPE = (
    r"(?::[ \t]{0,2}|[ \t])[A-Za-z&][A-Za-z&'\[\]|*?.]{1,24}"
    r"(?:[ \t]\|[ \t][A-Za-z]{2,10}|[ \t]str)?[ \t]{1,2}"
)
_EQUALS = r"(?::\*{2}|:{1,3}=|[?.+|:!]?={1,3}>?|:|->)"
_OPEN = r"(?:[A-Za-z@$]{0,2}\\{0,6}(?:[\"'`]|&quot;){1,3})"
# Not \s: the three libraries disagree about the vertical tab.
_QUOTED = r"[^\x00-\x20\"'`\\]"
_BARE = r"[A-Za-z0-9_.\-/:!#%^*@$~+=?]"

# The ways to put a value behind a name.
_JOINS = (
    rf"{_TYPE}={{1,2}}[ \t]{{0,8}}",
    rf"{_CLOSE}[ \t]{{0,16}}{_EQUALS}[ \t]{{0,8}}",
    r"\\{0,6}[\"'`],[ \t]{0,3}",
    r"\\{0,6}[\"'`],?[\x09-\x0d ]{1,12}\\{0,6}[\"']?value\\{0,6}[\"']?[ \t]{0,3}[=:][ \t]{0,3}",
    r"\\{0,6}[\"'`],\\{0,6}[\"']value\\{0,6}[\"'][ \t]{0,3}:[ \t]{0,3}",
    r"[\x09-\x0d ]{1,12}value:[ \t]{1,3}",
    r"</(?:name|key|string)>[\x09-\x0d ]{0,12}<(?:value|string)>",
    r">[\x09-\x0d ]{0,24}",
)
_JOIN = "(?:" + "|".join(_JOINS) + ")"
# Rarer ways, which are looked for apart, because together they would be slow.
_RARE_JOINS = (
    # As `terraform output -json` nests it.
    r"\\{0,6}[\"']?[ ]?[:=][ ]?\{[^{}]{0,60}(?:type|sensitive)\\{0,6}\""
    r"[^{}]{1,60}[^A-Za-z]value\\{0,6}[\"']?[ ]?[:=][ ]?",
    rf"{_CLOSE}(?:{ANSI})?[ \t]{{0,16}}[:=][ \t]{{0,8}}{ANSI}",
    rf"{_CLOSE}{ANSI}[ \t]{{0,16}}[:=][ \t]{{0,8}}",
)
_RARE_JOIN = "(?:" + "|".join(_RARE_JOINS) + ")"
_BLANK = r"[ \t]{1,3}"  # behind an option of a command
# At least one of these stands in an unquoted secret; most unquoted values in code have none.
_TELLING = r"[0-9!#%^*@$~+=?]"
_LETTERS = r"[A-Za-z_.\-/:]"
# Six characters of an unquoted value of which one is telling, spelled out for want of look-ahead.
_SIX = "|".join(
    [
        *(f"{_LETTERS * n}{_TELLING}{_BARE}{{{5 - n}}}" for n in range(5)),
        f"{_LETTERS}{{5,64}}{_TELLING}",
    ]
)
_OPTION = r"-[A-Za-z0-9_.\-]{0,64}"
_LONGEST = 256
# `--set token=...`: the inner name has its own turn.
_NESTED = re.compile(rf"[A-Za-z_.-]{{0,40}}(?:{_WORDS})[A-Za-z_.-]{{0,20}}=[^=]", re.IGNORECASE)


class _Assignment(NamedTuple):
    """A name and its value, and where in the batch the value begins."""

    name: str
    before: bytes
    join: str
    value: str
    start: int
    quoted: bool


@cache
def _contexts() -> tuple[tuple[ContextRule, re.Pattern[str]], ...]:
    """The names that tell whose secret it is, compiled when one is first looked at."""
    return tuple((row, re.compile(row.pattern())) for row in CONTEXTS)


@cache
def _providers() -> re.Pattern[str]:
    return re.compile("|".join(sorted({word for row in CONTEXTS for word in row.words})))


class AssignmentRule:
    """Named values, whatever the notation."""

    needles = tuple(word.encode() for word in _WORDS.split("|"))
    triggers: tuple[str, ...] = (
        rf"(?i:{_WORDS}){_TAIL}{_JOIN}{_OPEN}{_QUOTED}{{6}}",
        rf"(?i:{_WORDS}){_TAIL}{_JOIN}(?:{_SIX})",
        rf"{_OPTION}(?i:{_WORDS}){_TAIL}{_BLANK}(?:{_OPEN}{_QUOTED}{{6}}|{_SIX})",
    )
    reach = 280
    join = rf"{_JOIN}|{_BLANK}"

    def __init__(self, compiled: Compile, is_name: IsName = never) -> None:
        self._is_name = is_name
        self._assignment = compiled(
            rf"(?i:{_WORDS})({_TAIL})({self.join})"
            rf"(?:({_OPEN})({_QUOTED}{{6,{_LONGEST}}})|({_BARE}{{6,{_LONGEST}}}))"
        )
        self._more_quoted = compiled(f"{_QUOTED}*")
        self._more_bare = compiled(f"{_BARE}*")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        found = self._read(text, at)
        if found is None or not _assigns(found):
            return
        kind, rank = self._kind(found)
        if not kind:
            return
        end = found.start + len(found.value)
        if len(found.value) == _LONGEST:
            more = (self._more_quoted if found.quoted else self._more_bare).match(
                text.data, end, text.high
            )
            end = more.end() if more is not None else end
        yield PossibleSecret(found.start, end, kind, rank)

    def _read(self, text: RuleText, at: int) -> _Assignment | None:
        match = self._assignment.match(text.data, at, text.high)
        if match is None:
            return None
        quoted = match.start(4) >= 0
        start, end = (match.start(4), match.end(4)) if quoted else (match.start(5), match.end(5))
        follows = text.after(end)
        if follows >= 0 and (chr(follows).isspace() if quoted else follows in b"([{"):
            return None  # A quoted sentence, a call, an index.
        value = text.value(start, end)
        if not quoted:
            value = value if value.endswith("..") else value.rstrip(".:!?")
            if not re.search(_TELLING, value[:64]) or _NESTED.match(value):
                return None
        stem = read_back(text, at)
        return _Assignment(
            name=stem + text.value(at, match.end(1)),
            before=text.before(at - len(stem), 5),
            join=text.value(match.start(2), match.end(2)).strip(),
            value=value,
            start=start,
            quoted=quoted,
        )

    def _kind(self, found: _Assignment) -> tuple[str, int]:
        """What kind of secret this is, and how sure that is; an empty kind is none."""
        name, value = found.name.lower(), found.value
        if _providers().search(name) and not _PUBLIC.search(name) and not is_stand_in(value):
            for row, pattern in _contexts():
                if any(word in name for word in row.words) and pattern.fullmatch(value):
                    return row.kind, 2
        bar = _bar_here(found)
        if bar is None:
            return "", 0
        if not looks_secret(value, bar, quoted=found.quoted or _is_environment(found)):
            if is_weak_secret(value, bar) and not self._is_name(value):
                return "weak-password" if bar is Bar.PASSWORD else "weak-secret", 4
            return "", 0
        return ("assigned-password" if bar <= Bar.PASSWORD else "assigned-secret"), 3


class RareAssignmentRule(AssignmentRule):
    """Named values that are painted, or nested below their name."""

    join = _RARE_JOIN
    # Without the name: what is rare is enough of a sign, and cheaper to look for.
    triggers: tuple[str, ...] = tuple(
        rf"{rare}{value}"
        for rare in (
            r"(?:type|sensitive)\\{0,6}\"[^{}]{1,60}[^A-Za-z]value\\{0,6}[\"']?[ ]?[:=][ ]?",
            rf"[:=][ \t]{{0,8}}{ANSI}",
            rf"{ANSI}[ \t]{{0,16}}[:=][ \t]{{0,8}}",
        )
        for value in (rf"{_OPEN}{_QUOTED}{{6}}", rf"{_BARE}{{6}}")
    )
    probe = rf"(?i:{_WORDS}){_TAIL}{_RARE_JOIN}"


_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"


# "API key": a blank where code would have an underscore.
_WORDED = re.compile(rb"(?:^|[^A-Za-z])((?i:api|access|secret|private|auth|license|account))[ ]$")


def read_back(text: RuleText, at: int) -> str:
    """The part of a name before its telling word."""
    before = text.before(at, 64)
    stem = before.rstrip(_NAME)
    part = before[len(stem) :]
    if not stem.endswith(b"\\") and not part and text.data[at : at + 3].lower() == b"key":
        worded = _WORDED.search(stem)
        part = worded.group(1) + b"_" if worded is not None else part
    # In JSON that was printed, the n of a line end runs into the name behind it.
    return part[1 if stem.endswith(b"\\") and part[:1] in (b"n", b"r", b"t") else 0 :].decode(
        "ascii"
    )


def _assigns(found: _Assignment) -> bool:
    """Whether what stands between name and value assigns, given what stands around them."""
    if not found.join:
        return found.name.startswith("-")
    if found.join == ">":
        return found.before.endswith(b"<")
    return found.quoted or not found.join.endswith(",")


def _is_environment(found: _Assignment) -> bool:
    """`DB_PASSWORD=two-words-7`, as a shell or an env file has it: no
    expression can stand there unquoted.
    """
    return found.join == "=" and found.name.isupper() and not is_code(found.value)


def _bar_here(found: _Assignment) -> Bar | None:
    """The bar of a name, moved by the notation around it."""
    name = found.name.lower()
    if name == "pass" and found.join != "=":
        return None  # The verb.
    if "passw" in name and found.join.endswith("value=") and found.before == b'key="':
        return (
            Bar.ANYTHING
        )  # <add key="Password" value="..."/> is configuration: no variable can stand there.
    bar = bar_of(found.name)
    if bar is Bar.PASSWORD and found.join.endswith(","):
        return Bar.SECRET  # Two arguments of a call, more often than a name and its value.
    return bar


_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Words after the telling word that turn a secret into something about a secret.
_ABOUT = words(
    "id ids name names file files path paths dir url uri urls endpoint host type types count "
    "counts len length size "
    "hash hashes digest checksum arn ref refs reference field fields column label prefix suffix "
    "expiry expires expire "
    "expiration expired ttl age date time timeout at timestamp regex pattern format schema var "
    "variable store storage "
    "bucket index idx limit limits budget usage used per rate ratio cost price total max min "
    "version policy policies "
    "rotation rotated enabled disabled required optional valid validity hint prompt message msg "
    "error errors status "
    "state method mode source kind provider service manager class func function callback handler "
    "factory builder "
    "parser stream ring board word words stroke press code codes map frame signature algorithm alg "
    "header "
    "headers scope scopes audience issuer template placeholder example list set array ops lifetime "
    "accessor exists "
    "missing found present invalid reset change changed rule rules strength requirements attribute "
    "attributes "
    "selector input output context request response location region mount dump server domain user "
    "username "
    "email role group permission permissions flow redirect mechanism plugin module package import "
    "exports default "
    "chars charset alphabet vault"
)
# Words before it that do the same.
_OTHER = words(
    "public pub primary foreign partition sort cache idempotency dedupe range row object group "
    "query unique composite "
    "registry hot shortcut keyboard csrf xsrf next page continuation cursor max min total num "
    "number input output "
    "prompt completion reasoning cached special eos bos pad unk mask stop start end vocab "
    "separator sep delimiter "
    "cancellation lookup sequence tool call issuer publishable translation metadata "
    "file image media folder document doc docx wiki sheet spreadsheet "
    "no not without skip missing invalid forgot reset has is use uses using needs require requires "
    "show hide "
    "enable disable"
)
_PLURAL = frozenset({"tokens", "secrets", "keys", "passwords", "pwds", "auths", "clients"})
_QUALIFIED = words(
    "api access secret private auth encryption encrypt decryption signing sign master account "
    "shared storage service "
    "client session jwt hmac admin deploy webhook crypto cipher aes root security app application "
    "consumer "
    "subscription integration write ingest sas license licence server project bot merchant "
    "personal aws azure gcp "
    "openai anthropic google gemini stripe github gitlab"
)
_GLUED = tuple(word + "key" for word in _QUALIFIED)
_PUBLIC = re.compile(
    r"public|publishable|csrf|xsrf|_pub_|pub_?key|sitekey|site_key|cache|foreign|primary|partition"
)


def bar_of(name: str) -> Bar | None:
    """How much the value behind a name must look like a secret; None if it is not one at all."""
    parts = [word.lower() for word in _SPLIT.findall(name)]
    bar: Bar | None = None
    for place, word in enumerate(parts):
        if word in _PLURAL:
            bar = None
        elif (
            "passw" in word
            or word.endswith("pwd")
            or "passphrase" in word
            or word in ("pass", "passcode")
        ):
            bar = Bar.PASSWORD
        elif word.endswith(("token", "secret", "credential", "credentials", "apikey")):
            bar = Bar.SECRET
        elif word == "key":
            bar = (
                Bar.SECRET if _QUALIFIED.intersection(parts[:place]) else Bar.KEY if place else None
            )
        elif word.endswith(_GLUED):
            bar = Bar.SECRET
        elif word in ("auth", "authorization"):
            bar = Bar.KEY
        elif word in _ABOUT:
            bar = None
    if bar is not None and "passw" in name.lower():
        bar = Bar.PASSWORD
    if bar is None or _OTHER.intersection(parts) or _PUBLIC.search(name.lower()):
        return None
    return bar
