"""Secrets known by the place they stand in: headers, cookies, URLs, command lines.

Each class reads one kind of place. They are rules like the rows of the table
(see `rules` for what that promises), only their reading takes more than a row.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from recollect.redact.rules import Compile, PossibleSecret, Rule, RuleText
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
        self._header = compiled(
            rf"{self._start}(?:({self._scheme})[ \t:=]{{1,3}})?({_VALUE}{{6,256}})"
        )
        self._more = compiled(f"{_VALUE}*")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._header.match(text.data, at, text.high)
        if match is None:
            return
        start, end = match.start(2), match.end(2)
        value = text.value(start, end)
        scheme = text.value(match.start(1), match.end(1)).lower() if match.start(1) >= 0 else ""
        if scheme == "basic" and _is_user_and_password(value):
            yield PossibleSecret(start, end, "basic-authorization", 2)
        elif looks_secret(value, Bar.SECRET, quoted=True):
            more = self._more.match(text.data, end, text.high)
            kind = (
                f"{scheme or 'header'}-authorization"
                if scheme in ("", "bearer", "basic")
                else "token-authorization"
            )
            yield PossibleSecret(start, more.end() if more else end, kind, 2)


class BearerRule:
    """`Bearer ...` without its header, as logs and prose quote it."""

    needles = (b"bearer",)
    _start = r"(?i:bearer)(?:[ \t]|%20|\+|:[ \t]?){1,2}[\"'`]?"
    triggers = (rf"{_start}[A-Za-z0-9_.~+/=\-]{{16}}",)
    reach = 40

    def __init__(self, compiled: Compile) -> None:
        self._bearer = compiled(rf"{self._start}([A-Za-z0-9_.~+/=\-]{{16,256}})")
        self._more = compiled(r"[A-Za-z0-9_.~+/=\-]*")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._bearer.match(text.data, at, text.high)
        if match is None:
            return
        start, end = match.start(1), match.end(1)
        if looks_secret(text.value(start, end), Bar.SECRET, quoted=False):
            more = self._more.match(text.data, end, text.high)
            yield PossibleSecret(start, more.end() if more else end, "bearer-authorization", 2)


def _is_user_and_password(value: str) -> bool:
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False
    return (
        b":" in decoded
        and decoded.isascii()
        and not is_stand_in(decoded.decode().partition(":")[2] or "x")
    )


class CookieRule:
    """Session cookies in `Cookie` and `Set-Cookie` headers: the values, not the names."""

    needles = (b"cookie",)
    triggers = (
        r"(?i:cookie)\\{0,6}[\"'`]?\]?[ \t]{0,3}[:=,][ "
        r"\t]{0,3}\\{0,6}[\"'`]?[A-Za-z0-9_.\-]{1,64}=[A-Za-z0-9]",
    )
    reach = 100
    _session = re.compile(
        r"sess|sid|token|auth|jwt|login|remember|secret|identity|_id$", re.IGNORECASE
    )

    def __init__(self, compiled: Compile) -> None:
        self._header = compiled(
            r"(?i:cookie)\\{0,6}[\"'`]?\]?[ \t]{0,3}[:=,][ \t]{0,3}\\{0,6}[\"'`]?"
        )
        self._pair = compiled(
            r"([A-Za-z0-9_.\-]{1,64})=([A-Za-z0-9_.%+/:~=|!*\-]{0,1000})(?:;[ \t]{0,2})?"
        )

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        header = self._header.match(text.data, at, text.high)
        place = header.end() if header is not None else text.high
        # Headers are short; a longer one is no reason to read on and on.
        stop = min(text.high, place + 4096)
        while (pair := self._pair.match(text.data, place, stop)) is not None:
            name, value = (
                text.value(pair.start(1), pair.end(1)),
                text.value(pair.start(2), pair.end(2)),
            )
            secret = len(value) >= 16 or (len(value) >= 8 and self._session.search(name))
            if (
                secret
                and name.lower() not in ("expires", "domain", "path")
                and looks_secret(value, Bar.SECRET, quoted=False)
            ):
                yield PossibleSecret(pair.start(2), pair.end(2), "cookie", 2)
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
        self._with_password = compiled(
            rf"://{self._user}{{0,80}}:({self._password}{{3,200}})@[A-Za-z0-9_.\[$\-]"
        )
        self._with_token = compiled(r"://([A-Za-z0-9_\-]{20,200})@[A-Za-z0-9]")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._with_password.match(text.data, at, text.high)
        if match is not None:
            value = text.value(match.start(1), match.end(1))
            if not is_stand_in(value) and not re.match(r"[0-9]{1,5}(?:[/?,]|$)", value):
                yield PossibleSecret(match.start(1), match.end(1), "url-password", 2)
            return
        match = self._with_token.match(text.data, at, text.high)
        if match is not None and looks_secret(
            text.value(match.start(1), match.end(1)), Bar.SECRET, quoted=False
        ):
            yield PossibleSecret(match.start(1), match.end(1), "url-token", 2)


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
        self._both = compiled(
            rf"{self._start}({self._user}{{0,80}})[\"']?:\\{{0,3}}[\"']?({self._password}{{4,200}})"
        )
        self._alone = compiled(rf"{self._start}({self._user}{{8,80}}):[\"'\x09-\x0d ]")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
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
            yield PossibleSecret(start, end, "user-password", 2)


class NetrcRule:
    """`machine host login name password ...`, on one line or on several."""

    needles = (b"pass",)
    triggers = (
        rf"login{_GAP}{{1,8}}[^\x00-\x20]{{1,80}}{_GAP}{{1,8}}password{_GAP}{{1,8}}[^\x00-\x20]{{4}}",
    )
    reach = 24
    _login = re.compile(rb"login[\x09-\x0d ]{1,8}[^\x00-\x20]{1,80}[\x09-\x0d ]{1,8}$")

    def __init__(self, compiled: Compile) -> None:
        self._password = compiled(rf"password{_GAP}{{1,8}}([^\x00-\x20\"'\\]{{4,200}})")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._password.match(text.data, at, text.high)
        if match is None or not self._login.search(text.before(at, 104)):
            return
        if looks_secret(text.value(match.start(1), match.end(1)), Bar.PASSWORD, quoted=False):
            yield PossibleSecret(match.start(1), match.end(1), "netrc-password", 2)


def place_rules(compiled: Compile) -> list[Rule]:
    """All the rules of this module."""
    return [
        AuthorizationRule(compiled),
        BearerRule(compiled),
        CookieRule(compiled),
        UrlRule(compiled),
        UserOptionRule(compiled),
        NetrcRule(compiled),
    ]
