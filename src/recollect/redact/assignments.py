"""Secrets that have a name: `FOO_TOKEN=...`, `"apiKey": "..."`, `--password ...`.

Every language and tool writes an assignment its own way, and logs add quotes
that were escaped once or twice. One pattern reads them all from the telling
word in the name onwards; the name is then read backwards. The name decides how
much the value must look like a secret (`Bar`), and `values` judges the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.redact.contexts import CONTEXTS
from recollect.redact.rules import Compile, Found, Text
from recollect.redact.values import Bar, is_stand_in, looks_secret

_WORDS = "token|secret|pass|pwd|key|credential|auth|client|accessid|access_id|contribsys"
_TAIL = r"[A-Za-z0-9_.\-]{0,40}"
_CLOSE = r"(?:\\{0,6}(?:[\"'`]|&quot;)\]?)?"
_TYPE = r"(?::[ \t]{0,2}|[ \t])[A-Za-z&][A-Za-z&'\[\]|*?.]{1,24}(?:[ \t]\|[ \t][A-Za-z]{2,10}|[ \t]str)?[ \t]{1,2}"
_EQUALS = r"(?::{1,3}=|[?.+|:!]?={1,3}>?|:|->)"
_OPEN = r"(?:[A-Za-z@$]{0,2}\\{0,6}(?:[\"'`]|&quot;){1,3})"
# Not \s: the three libraries disagree about the vertical tab.
_QUOTED = r"[^\x00-\x20\"'`\\<>]"
_BARE = r"[A-Za-z0-9_.\-/:!#%^*@$~+=?]"

# The ways to put a value behind a name, each with the value in a group.
_JOINS = (
    rf"{_TYPE}={{1,2}}[ \t]{{0,8}}",
    rf"{_CLOSE}[ \t]{{0,16}}{_EQUALS}[ \t]{{0,8}}",
    r"\\{0,6}[\"'`],[ \t]{0,3}",
    r"\\{0,6}[\"'`],?[\x09-\x0d ]{1,12}\\{0,6}[\"']?value\\{0,6}[\"']?[ \t]{0,3}[=:][ \t]{0,3}",
    r"\\{0,6}[\"'`],\\{0,6}[\"']value\\{0,6}[\"'][ \t]{0,3}:[ \t]{0,3}",
    r"[\x09-\x0d ]{1,12}value:[ \t]{1,3}",
    r"</(?:name|key|string)>[\x09-\x0d ]{0,12}<(?:value|string)>",
    r">[\x09-\x0d ]{0,24}",
    r"[ \t]{1,3}",
)
_JOIN = "(?:" + "|".join(_JOINS) + ")"
# At least one of these stands in an unquoted secret; most unquoted values in code have none.
_TELLING = r"[0-9!#%^*@$~+=?]"
_LETTERS = r"[A-Za-z_.\-/:]"


class AssignmentRule:
    """Named values, whatever the notation."""

    needles = tuple(word.encode() for word in _WORDS.split("|"))
    triggers = (
        rf"(?i:{_WORDS}){_TAIL}{_JOIN}{_OPEN}{_QUOTED}{{6}}",
        rf"(?i:{_WORDS}){_TAIL}{_JOIN}{_LETTERS}{{0,64}}{_TELLING}",
    )
    reach = 280

    def __init__(self, compiled: Compile) -> None:
        self._assignment = compiled(
            rf"(?i:{_WORDS})({_TAIL})({_JOIN})(?:({_OPEN})({_QUOTED}{{6,256}})|({_BARE}{{6,256}}))"
        )
        self._more_quoted = compiled(f"{_QUOTED}*")
        self._more_bare = compiled(f"{_BARE}*")
        self._contexts = tuple((row, re.compile(row.pattern())) for row in CONTEXTS)
        self._providers = re.compile("|".join(sorted({word for row in CONTEXTS for word in row.words})))

    def find(self, text: Text, at: int) -> Iterator[Found]:
        match = self._assignment.match(text.data, at, text.high)
        if match is None:
            return
        quoted = match.start(4) >= 0
        start, end = (match.start(4), match.end(4)) if quoted else (match.start(5), match.end(5))
        stem = _read_back(text, at)
        name = stem + text.value(at, match.end(1))
        join = text.value(match.start(2), match.end(2))
        if not _joins(text, at - len(stem), name, join, quoted=quoted):
            return
        value = text.value(start, end)
        if not quoted:
            value = value if value.endswith("..") else value.rstrip(".:!?")
            if not re.search(_TELLING, value[:64]):
                return
        follows = text.after(end)
        if (quoted and follows >= 0 and chr(follows).isspace()) or (not quoted and follows >= 0 and follows in b"([{"):
            return
        # <add key="Password" value="..."/>: a configuration file, so the value is no variable.
        config = "passw" in name.lower() and join.rstrip().endswith("value=") and text.before(at - len(stem), 5) == b'key="'
        kind, rank = self._kind(name, value, join, quoted=quoted, config=config)
        if not kind:
            return
        if end - start == 256:
            more = (self._more_quoted if quoted else self._more_bare).match(text.data, end, text.high)
            yield Found(start, more.end() if more else end, kind, rank)
        else:
            yield Found(start, start + len(value), kind, rank)

    def _kind(self, name: str, value: str, join: str, *, quoted: bool, config: bool) -> tuple[str, int]:
        lowered = name.lower()
        if self._providers.search(lowered) and not _is_public(lowered) and not is_stand_in(value):
            for row, pattern in self._contexts:
                if any(word in lowered for word in row.words) and pattern.fullmatch(value):
                    return row.kind, 2
        bar = Bar.ANYTHING if config else bar_of(name)
        if name.lower() == "pass" and join.strip() != "=":
            return "", 0  # the verb
        if bar is Bar.PASSWORD and join.rstrip().endswith(","):
            bar = Bar.SECRET  # two arguments of a call, more often than a name and its value
        if bar is not None and looks_secret(value, bar, quoted=quoted):
            return ("assigned-password" if bar <= Bar.PASSWORD else "assigned-secret"), 3
        return "", 0


_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_ESCAPED_LETTER = re.compile(rb"\\[nrt]$")


def _read_back(text: Text, at: int) -> str:
    """The part of a name before its telling word."""
    before = text.before(at, 64)
    stem = before.rstrip(_NAME)
    part = before[len(stem) :]
    if part and _ESCAPED_LETTER.search(stem[-1:] + part[:1]):
        part = part[1:]
    return part.decode("ascii")


def _joins(text: Text, start: int, name: str, join: str, *, quoted: bool) -> bool:
    """Whether the characters between name and value assign, given what stands around them."""
    stripped = join.strip()
    if not stripped:
        return name.startswith("-") and "\n" not in join
    if stripped == ">":
        return text.before(start, 1) == b"<"
    if stripped.endswith(","):
        return quoted
    return True


_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Words after the telling word that turn a secret into something about a secret.
_ABOUT = frozenset(
    "id ids name names file files path paths dir url uri urls endpoint host type types count counts len length size "
    "hash hashes digest checksum arn ref refs reference field fields column label prefix suffix expiry expires expire "
    "expiration expired ttl age date time timeout at timestamp regex pattern format schema var variable store storage "
    "bucket index idx limit limits budget usage used per rate ratio cost price total max min version policy policies "
    "rotation rotated enabled disabled required optional valid validity hint prompt message msg error errors status "
    "state method mode source kind provider service manager class func function callback handler factory builder "
    "parser stream ring board word words words stroke press code codes map frame signature algorithm alg header "
    "headers scope scopes audience issuer template placeholder example list set array ops lifetime accessor exists "
    "missing found present invalid reset change changed rule rules strength requirements attribute attributes "
    "selector input output context request response location region mount template dump server domain user username "
    "email role group permission permissions flow redirect mechanism plugin module package import exports default "
    "chars charset alphabet str string vault".split()
) - {"string", "str"}
# Words before it that do the same.
_OTHER = frozenset(
    "public pub primary foreign partition sort cache idempotency dedupe range row object group query unique composite "
    "registry hot shortcut keyboard csrf xsrf next page continuation cursor max min total num number input output "
    "prompt completion reasoning cached special eos bos pad unk mask stop start end vocab separator sep delimiter "
    "cancellation lookup sequence tool call license_plate issuer publishable translation i18n storage_path metadata "
    "no not without skip missing invalid forgot reset has is use uses using needs require requires show hide "
    "enable disable".split()
)
_PLURAL = frozenset({"tokens", "secrets", "keys", "passwords", "pwds", "auths", "clients"})
_QUALIFIED = frozenset(
    "api access secret private auth encryption encrypt decryption signing sign master account shared storage service "
    "client session jwt hmac admin deploy webhook crypto cipher aes root security app application consumer "
    "subscription integration write ingest sas license licence server project bot merchant personal aws azure gcp "
    "openai anthropic google gemini stripe github gitlab".split()
)
_GLUED = tuple(word + "key" for word in _QUALIFIED)
_PUBLIC = re.compile(r"public|publishable|csrf|xsrf|_pub_|pub_?key|sitekey|site_key|cache|foreign|primary|partition")


def _is_public(name: str) -> bool:
    return _PUBLIC.search(name) is not None


def bar_of(name: str) -> Bar | None:
    """How much the value behind a name must look like a secret; None if it is not one at all."""
    words = [word.lower() for word in _SPLIT.findall(name)]
    bar: Bar | None = None
    for place, word in enumerate(words):
        if word in _PLURAL:
            bar = None
        elif "passw" in word or word.endswith("pwd") or "passphrase" in word or word in ("pass", "passcode"):
            bar = Bar.PASSWORD
        elif word.endswith(("token", "secret", "credential", "credentials", "apikey")):
            bar = Bar.SECRET
        elif word == "key":
            bar = Bar.SECRET if _QUALIFIED.intersection(words[:place]) else Bar.KEY if place else None
        elif word.endswith(_GLUED):
            bar = Bar.SECRET
        elif word in ("auth", "authorization"):
            bar = Bar.KEY
        elif word in _ABOUT:
            bar = None
    if bar is None or _OTHER.intersection(words) or _is_public(name.lower()):
        return None
    return bar
