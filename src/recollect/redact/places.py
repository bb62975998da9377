"""Secrets known by the place they stand in: headers, URLs, key files, manifests.

Each class reads one kind of place. They are rules like the rows of the table
(see `rules` for what that promises), only their reading takes more than a row.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from recollect.redact.rules import Compile, Found, Rule, Text, starts_clean
from recollect.redact.values import Bar, is_random, is_stand_in, looks_secret

_GAP = r"[\x09-\x0d ]"
_VALUE = r"[^\x00-\x20\"'`\\<>,;(){}]"


class AuthorizationRule:
    """`Authorization: Bearer ...` in headers, dictionaries and curl commands."""

    needles = (b"auth",)
    _start = r"(?i:authorization)\\{0,6}[\"'`]?\]?[ \t]{0,3}[:=,][ \t]{0,3}[bf]?\\{0,6}[\"'`]?"
    _scheme = (
        r"(?i:bearer|basic|token|apikey|api-key|key|ssws|geniekey|splunk|oauth|bot|jwt|apitoken|"
        r"privatetoken|client-id|discogs|digest)"
    )
    triggers = (rf"{_start}(?:{_scheme}[ \t:=]{{1,3}})?{_VALUE}{{6}}",)
    reach = 80

    def __init__(self, compiled: Compile) -> None:
        self._header = compiled(rf"{self._start}(?:({self._scheme})[ \t:=]{{1,3}})?({_VALUE}{{6,256}})")
        self._more = compiled(f"{_VALUE}*")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        match = self._header.match(text.data, at, text.high)
        if match is None:
            return
        start, end = match.start(2), match.end(2)
        value = text.value(start, end)
        scheme = text.value(match.start(1), match.end(1)).lower() if match.start(1) >= 0 else ""
        if scheme == "basic" and _is_user_and_password(value):
            yield Found(start, end, "basic-authorization", 2)
        elif looks_secret(value, Bar.SECRET, quoted=True):
            more = self._more.match(text.data, end, text.high)
            kind = f"{scheme or 'header'}-authorization" if scheme in ("", "bearer", "basic") else "token-authorization"
            yield Found(start, more.end() if more else end, kind, 2)


class BearerRule:
    """`Bearer ...` without its header, as logs and prose quote it."""

    needles = (b"bearer",)
    _start = r"(?i:bearer)(?:[ \t]|%20|\+|:[ \t]?){1,2}[\"'`]?"
    triggers = (rf"{_start}[A-Za-z0-9_.~+/=\-]{{16}}",)
    reach = 40

    def __init__(self, compiled: Compile) -> None:
        self._bearer = compiled(rf"{self._start}([A-Za-z0-9_.~+/=\-]{{16,256}})")
        self._more = compiled(r"[A-Za-z0-9_.~+/=\-]*")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        match = self._bearer.match(text.data, at, text.high)
        if match is None:
            return
        start, end = match.start(1), match.end(1)
        if looks_secret(text.value(start, end), Bar.SECRET, quoted=False):
            more = self._more.match(text.data, end, text.high)
            yield Found(start, more.end() if more else end, "bearer-authorization", 2)


def _is_user_and_password(value: str) -> bool:
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and not is_stand_in(decoded.decode().partition(":")[2] or "x")


class CookieRule:
    """Session cookies in `Cookie` and `Set-Cookie` headers: the values, not the names."""

    needles = (b"cookie",)
    triggers = (r"(?i:cookie)\\{0,6}[\"'`]?\]?[ \t]{0,3}[:=,][ \t]{0,3}\\{0,6}[\"'`]?[A-Za-z0-9_.\-]{1,64}=[A-Za-z0-9]",)
    reach = 100
    _session = re.compile(r"sess|sid|token|auth|jwt|login|remember|secret|identity|_id$", re.IGNORECASE)
    _value_bytes = 1024

    def __init__(self, compiled: Compile) -> None:
        self._header = compiled(r"(?i:cookie)\\{0,6}[\"'`]?\]?[ \t]{0,3}[:=,][ \t]{0,3}\\{0,6}[\"'`]?")
        self._pair = compiled(r"([A-Za-z0-9_.\-]{1,64})=([A-Za-z0-9_.%+/:~=|!*\-]{0,1000})(?:;[ \t]{0,2})?")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        header = self._header.match(text.data, at, text.high)
        place = header.end() if header is not None else text.high
        # Headers are short; a longer one is no reason to read on and on.
        stop = min(text.high, place + 4096)
        while (pair := self._pair.match(text.data, place, stop)) is not None:
            name, value = text.value(pair.start(1), pair.end(1)), text.value(pair.start(2), pair.end(2))
            secret = len(value) >= 16 or (len(value) >= 8 and self._session.search(name))
            if secret and name.lower() not in ("expires", "domain", "path") and looks_secret(value, Bar.SECRET, quoted=False):
                yield Found(pair.start(2), pair.end(2), "cookie", 2)
            place = pair.end()


class UrlRule:
    """The password in `scheme://user:password@host`, and a token in the user's place."""

    needles = (b"://",)
    _user = r"[^\x00-\x20/:@\"'`<>\\?#(){}\[\]]"
    _password = r"[^\x00-\x20/\"'`<>\\]"
    triggers = (
        rf"://{_user}{{0,80}}:{_password}{{3,200}}@[A-Za-z0-9_.\[$\-]",
        r"://[A-Za-z0-9_\-]{20,200}@[A-Za-z0-9]",
    )
    reach = 320

    def __init__(self, compiled: Compile) -> None:
        self._with_password = compiled(rf"://{self._user}{{0,80}}:({self._password}{{3,200}})@[A-Za-z0-9_.\[$\-]")
        self._with_token = compiled(r"://([A-Za-z0-9_\-]{20,200})@[A-Za-z0-9]")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        match = self._with_password.match(text.data, at, text.high)
        if match is not None:
            value = text.value(match.start(1), match.end(1))
            if not is_stand_in(value) and not re.match(r"[0-9]{1,5}(?:[/?,]|$)", value):
                yield Found(match.start(1), match.end(1), "url-password", 2)
            return
        match = self._with_token.match(text.data, at, text.high)
        if match is not None and looks_secret(text.value(match.start(1), match.end(1)), Bar.SECRET, quoted=False):
            yield Found(match.start(1), match.end(1), "url-token", 2)


class UserOptionRule:
    """`-u user:password` and `--user user:password`, as curl and its friends take them."""

    needles = (b" -u", b"--user", b"--proxy-user")
    _start = r"(?: -u|--user|--proxy-user)[ =]{0,3}\\{0,3}[\"']?"
    _user = r"[^\x00-\x20:\"'$\\/]"
    _password = r"[^\x00-\x20\"'`\\]"
    triggers = (
        rf"{_start}{_user}{{0,80}}[\"']?:\\{{0,3}}[\"']?{_password}{{4}}",
        rf"{_start}{_user}{{8,80}}:[\"'\x09-\x0d ]",
    )
    reach = 120

    def __init__(self, compiled: Compile) -> None:
        self._both = compiled(rf"{self._start}({self._user}{{0,80}})[\"']?:\\{{0,3}}[\"']?({self._password}{{4,200}})")
        self._alone = compiled(rf"{self._start}({self._user}{{8,80}}):[\"'\x09-\x0d ]")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        match = self._both.match(text.data, at, text.high)
        group = 2
        if match is None:
            match, group = self._alone.match(text.data, at, text.high), 1
        if match is None:
            return
        start, end = match.start(group), match.end(group)
        value = text.value(start, end)
        braces = value.startswith("{") and is_random(value)
        if looks_secret(value.strip("{}") if braces else value, Bar.PASSWORD, quoted=True):
            yield Found(start, end, "user-password", 2)


_OPTION_VALUE = r"[^\x00-\x20\"'`\\;|&]"
_COMMANDS = (
    r"pass[ \t]{1,3}-p[ \t]{0,3}[\"']?",
    r"(?:mysql|mariadb)[a-z_\-]{0,12}[ \t][^\x0a\x0d;|]{0,80}-p[\"']?",
    r"redis-cli[ \t][^\x0a\x0d;|]{0,80}-a[ \t]{1,3}[\"']?",
    r"docker login[ \t][^\x0a\x0d;|]{0,80}-p[ \t]{1,3}[\"']?",
    r"pass:",
)


class CommandRule:
    """Passwords handed to tools by options too short to be telling on their own."""

    needles = (b"pass", b"mysql", b"mariadb", b"redis-cli", b"docker login")
    triggers = tuple(f"{command}{_OPTION_VALUE}{{6}}" for command in _COMMANDS)
    reach = 140

    def __init__(self, compiled: Compile) -> None:
        self._patterns = tuple(compiled(f"{command}({_OPTION_VALUE}{{6,200}})") for command in _COMMANDS)
        self._before = re.compile(rb"ssh$|-pass(?:in|out)?[ \t]{1,3}[\"']?$")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        for pattern in self._patterns:
            match = pattern.match(text.data, at, text.high)
            if match is None:
                continue
            if text.data.startswith(b"pass", at) and not self._before.search(text.before(at, 16)):
                continue
            if looks_secret(text.value(match.start(1), match.end(1)), Bar.PASSWORD, quoted=False):
                yield Found(match.start(1), match.end(1), "command-password", 2)


class NetrcRule:
    """`machine host login name password ...`, on one line or on several."""

    needles = (b"pass",)
    triggers = (rf"login{_GAP}{{1,8}}[^\x00-\x20]{{1,80}}{_GAP}{{1,8}}password{_GAP}{{1,8}}[^\x00-\x20]{{4}}",)
    reach = 24
    _login = re.compile(rb"login[\x09-\x0d ]{1,8}[^\x00-\x20]{1,80}[\x09-\x0d ]{1,8}$")

    def __init__(self, compiled: Compile) -> None:
        self._password = compiled(rf"password{_GAP}{{1,8}}([^\x00-\x20\"'\\]{{4,200}})")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        match = self._password.match(text.data, at, text.high)
        if match is None or not self._login.search(text.before(at, 104)):
            return
        if looks_secret(text.value(match.start(1), match.end(1)), Bar.PASSWORD, quoted=False):
            yield Found(match.start(1), match.end(1), "netrc-password", 2)


class PrivateKeyRule:
    """Private keys between BEGIN and END, also with escaped line ends, also cut off before the END."""

    needles = (b"private key",)
    _mark = r"PRIVATE KEY(?: BLOCK)?[ ]?-?----"
    triggers = (_mark,)
    reach = 32

    def __init__(self, compiled: Compile) -> None:
        self._head = compiled(self._mark)
        self._begin = re.compile(rb"-----?[- ]?BEGIN[A-Z0-9 ]{0,40}$")
        # Everything a key file holds between its markers, as text, in JSON, in YAML or glued together
        # in source code. A dash ends it, so that two keys are never read as one.
        self._body = compiled(r"(?:[A-Za-z0-9+/=:,.()@<>|\x09-\x0d \"'_]|\\{1,4}[nrt]|\\{1,4}[\x09-\x0d\"']|-[A-Za-z0-9])*")
        self._end = compiled(r"-----?[- ]END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-?----")
        self._line = re.compile(rb"[A-Za-z0-9+/=]{16,}")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        head = self._head.match(text.data, at, text.high)
        if head is None or not self._begin.search(text.before(at, 56)):
            return
        body = self._body.match(text.data, head.end(), text.high)
        if body is None:
            return
        stop = body.end()
        if self._end.match(text.data, stop, text.high) is None:
            # Cut off: the key is what still looks like lines of one.
            stop = body.start()
            for line in re.finditer(rb"(?:[\x09-\x0d \"'+|>]|\\[nrt])*(?:[A-Za-z0-9-]{1,16}: [^\x0a\\]{1,80}|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/=]{1,15}(?=[\x0d\x0a\\\"']|$))", text.data[body.start() : body.end()]):
                if body.start() + line.start() != stop:
                    break
                stop = body.start() + line.end()
        content = text.data[body.start() : stop]
        key = self._line.search(content)
        if key is None or _is_stand_in_key(content):
            return
        start, size = _bare(content)
        yield Found(body.start() + start, body.start() + start + size, "private-key", 0)


def _is_stand_in_key(content: bytes) -> bool:
    """Whether a key file holds dots, stars or one of our tags instead of a key."""
    return b"..." in content or len(set(content)) < 12


class PuttyKeyRule:
    """The private half of a PuTTY key file."""

    needles = (b"private-lines:",)
    triggers = (r"Private-Lines: [0-9]{1,3}",)
    reach = 24

    def __init__(self, compiled: Compile) -> None:
        self._lines = compiled(r"Private-Lines: [0-9]{1,3}((?:[A-Za-z0-9+/=\x0a\x0d]|\\[rn])*)")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        match = self._lines.match(text.data, at, text.high)
        if match is None:
            return
        content = text.data[match.start(1) : match.end(1)].removesuffix(b"Private")  # of the Private-MAC below it
        start, size = _bare(content)
        if size and not _is_stand_in_key(content):
            yield Found(match.start(1) + start, match.start(1) + start + size, "private-key", 0)


_LINE_ENDS = re.compile(rb"(?:[\x09-\x0d \"']|\\{1,4}[nrt])*")


def _bare(content: bytes) -> tuple[int, int]:
    """Where a key begins inside its lines and how long it is, without line ends around it."""
    head = _LINE_ENDS.match(content)
    start = head.end() if head is not None else 0
    end = len(content)
    while end > start and (content[end - 1] in b" \t\r\n\"'" or content[end - 2 : end] in (b"\\n", b"\\r", b"\\\\")):
        end -= 2 if content[end - 1] in b"nr\\" else 1
    return start, end - start


class JwtRule:
    """JSON Web Tokens, and the like: two or more base64url parts, the first two of which are JSON."""

    needles = (b"ey",)
    triggers = (r"ey[A-Za-z0-9_\-]{15}",)
    reach = 20

    def __init__(self, compiled: Compile) -> None:
        self._part = compiled(r"[A-Za-z0-9_\-]*=*")
        self._head = compiled(r"ey[A-Za-z0-9_\-]{15}")

    def find(self, text: Text, at: int) -> Iterator[Found]:
        if self._head.match(text.data, at, text.high) is None or not starts_clean(text, at):
            return
        before = text.before(at, 1)
        if before in (b"_", b"-") or not text.data.startswith(b"ey", at):
            return
        parts = []
        place = at
        while len(parts) < 5 and (part := self._part.match(text.data, place, text.high)) is not None:
            parts.append((place, part.end()))
            place = part.end() + 1
            if text.after(part.end()) != 0x2E:
                break
        if len(parts) < 2 or not text.data.startswith(b"ey", parts[1][0]) or parts[1][1] - parts[1][0] < 17:
            return
        end = parts[-1][1]
        if text.data[end - 1] == 0x2E and len(parts) > 3:
            end -= 1
        if not _is_stand_in_key(text.data[at:end]):
            yield Found(at, end, "jwt", 1)


class KubernetesSecretRule:
    """The values under `data` and `stringData` of a manifest whose kind is Secret."""

    needles = (b"secret",)
    triggers = (r"kind\\{0,6}[\"']?:[ ]{0,3}\\{0,6}[\"']?Secret",)
    reach = 8
    _kind = re.compile(rb"kind\\{0,6}[\"']?:[ ]{0,3}\\{0,6}[\"']?$")
    _again = re.compile(rb"kind\\{0,6}[\"']?:[ ]{0,3}\\{0,6}[\"']?Secret[^A-Za-z0-9]")
    _limit = 16_384
    _block = re.compile(rb"(?:^|[\x0a{,n ])[ \t]*\\{0,6}[\"']?(?:data|stringData)\\{0,6}[\"']?:[ ]{0,3}(?:\{|\x0a|\\n)")
    _item = re.compile(
        rb"(?:[\x0d\x0a\t ,]|\\n)*(\\{0,6}[\"']?)([A-Za-z0-9_.\-]{1,253})\\{0,6}[\"']?:[ ]{0,3}\\{0,6}[\"']?"
        rb"(?:\|-?[ ]*(?:\x0a|\\n)[ ]*)?([^\x00-\x20\"'\\,}]{4,8192})\\{0,6}[\"']?"
    )

    def __init__(self, compiled: Compile) -> None:
        del compiled

    def find(self, text: Text, at: int) -> Iterator[Found]:
        if not self._kind.search(text.before(at, 24)) or text.data[at + 6 : min(at + 7, text.high)].isalnum():
            return
        low, high = max(text.low, at - self._limit), min(text.high, at + self._limit)
        above = max(text.data.rfind(b"\n---", low, at), text.data.rfind(b"\\n---", low, at), low)
        if self._again.search(text.data, above, at - 1):
            return  # The first mention in a manifest reads all of it.
        region = text.data[low:high]
        below = min(
            (place for mark in (b"\n---", b"\\n---") if (place := region.find(mark, at - low)) >= 0),
            default=len(region),
        )
        for block in self._block.finditer(region, above - low, below):
            indent = _indent(region, block.start())
            place = block.end()
            while (item := self._item.match(region, place, below)) is not None:
                if not region[: block.end()].endswith(b"{") and _indent(region, item.start(2)) <= indent:
                    break
                value = item.group(3).decode("ascii")
                if not is_stand_in(value):
                    yield Found(low + item.start(3), low + item.end(3), "kubernetes-secret", 2)
                place = item.end()


def _indent(region: bytes, at: int) -> int:
    """How far the line around `at` is indented; lines may end with a real or an escaped newline."""
    line = max(region.rfind(b"\n", 0, at + 1) + 1, region.rfind(b"\\n", 0, at + 1) + 2, 0)
    return len(region[line:]) - len(region[line:].lstrip(b" "))


def place_rules(compiled: Compile) -> list[Rule]:
    """All the rules of this module."""
    return [
        AuthorizationRule(compiled),
        BearerRule(compiled),
        CookieRule(compiled),
        UrlRule(compiled),
        UserOptionRule(compiled),
        CommandRule(compiled),
        NetrcRule(compiled),
        PrivateKeyRule(compiled),
        PuttyKeyRule(compiled),
        JwtRule(compiled),
        KubernetesSecretRule(compiled),
    ]
