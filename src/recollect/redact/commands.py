"""Secrets known by the command or the statement they stand in.

A row names what stands before the value. Where a row is *sure*, nothing but a
secret can stand there, and only stand-ins are left; elsewhere the value must
look like a password too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from recollect.redact.rules import ANSI, Compile, PossibleSecret, Rule, RuleText
from recollect.redact.values import Bar, is_stand_in, looks_secret

_REST = r"[^\x0a\x0d;|&]{0,120}"
_WORD = r"[^\x00-\x20\"'`\\;|&<>]"
_QUOTE = r"\\{0,3}[\"']"
# In quotes all but the quote itself belongs to the value; without them a blank ends it.
_IN_QUOTES = r"[^\x00-\x1f\"'\\]"


class _Command(NamedTuple):
    """What stands before a secret; `sure` says that nothing else can stand there.

    Few needles are shared by many rows, because each costs a search: the
    option that leads to the value is one, and what must stand before it,
    such as the name of the program, is looked for backwards (`lead`).
    """

    needles: str
    lead: str
    before: str
    blank: str = r"[ \t]{1,3}"
    kind: str = "command-password"
    sure: bool = True
    low: int = 4


_SQL = "sql-password"
_PROGRAMS = (
    r"(?:[0-9a-z_.\-]*zip|mongo(?:sh|dump|restore|import|export)?|docker[ \t]login|plink"
    r"|pscp|psftp|sshpass)"
)
_COMMANDS = (
    # Options too short to be telling on their own.
    _Command(" -p", rf"{_PROGRAMS}(?:[ \t]{_REST})?", r"[ \t]-(?:p|P|pw)"),
    _Command(
        " -p",
        rf"(?:sshpass|sqlcmd|mysql[a-z_\-]{{0,12}}|mariadb[a-z_\-]{{0,12}}|7za?)(?:[ \t]{_REST})?",
        r"[ \t]-[pP]",
        blank="",
    ),
    _Command(" -p", rf"(?:sqlcmd)(?:[ \t]{_REST})?", r"[ \t]-P"),
    _Command(" -a", rf"redis-cli(?:[ \t]{_REST})?", r"[ \t]-a"),
    _Command(" -w", rf"ldap[a-z]{{3,8}}(?:[ \t]{_REST})?", r"[ \t]-w"),
    # Arguments without an option.
    _Command(
        "auth", r"ngrok[ \t](?:config[ \t])?(?:add-)?", r"authtoken", kind="ngrok-authtoken", low=12
    ),
    _Command(
        "pass",
        "ht",
        rf"passwd[ \t](?:-[A-Za-z]+[ \t]){{0,3}}-[A-Za-z]{{0,6}}b[A-Za-z]{{0,6}}[ \t](?:{_REST}["
        rf" \t])?"
        r"[^\x00-\x20\"'\-][^\x00-\x20\"']{0,63}",
    ),
    _Command(
        "pass", "wpa_", r"passphrase[ \t]{1,3}(?:[\"'][^\"'\x0a]{1,40}[\"']|[^\x00-\x20\"']{1,40})"
    ),
    _Command("pass", r"-(?:src|dest)?(?:store|key)", r"pass"),
    _Command("pass", "", r"--passwd", sure=False),
    _Command(
        "<<<",
        rf"(?:\bsudo[ \t](?:{_REST}[ \t])?(?:-[A-Za-z]{{0,3}}S|--stdin)|--(?:password-)?stdin)"
        rf"(?:[ \t]{_REST})?[ \t]{{0,3}}",
        r"<<<",
        blank=r"[ \t]{0,3}",
    ),
    _Command(
        "/user:",
        r"\bnet[ \t]{1,2}use[ \t][^\x0a]{0,120}",
        r"/(?i:user):[^\x00-\x20]{1,64}",
        sure=False,
    ),
    _Command(
        "securestring",
        "",
        r"(?i:securestring(?:[ \t]{1,2}-(?:asplaintext|force|string)){0,3})",
    ),
    _Command("pass", r"-pass(?:in|out)?[ \t]{1,3}[\"']?", r"pass", blank=":"),
    _Command(
        "token secret pass pwd key",
        r"setx[ \t]{1,3}[A-Za-z_0-9]{0,40}",
        r"(?i:token|secret|password|passwd|pass|pwd|key)[A-Za-z_0-9]{0,20}",
        kind="assigned-secret",
        sure=False,
    ),
    # Statements of databases.
    _Command(
        "identified",
        "",
        r"(?i:identified(?:[ \t]{1,3}with[ \t]{1,3}[\"'`]?[a-z0-9_"
        r"]{1,40}[\"'`]?)?[ \t]{1,3}"
        r"(?:by|as)(?:[ \t]{1,3}password)?)",
        kind=_SQL,
    ),
    _Command(
        "pass",
        r"(?:user|role|login)[ \t]{1,3}[^\x00-\x20]{1,64}[ \t]{1,3}(?:[a-z]{2,12}[ \t]{1,3}){0,5}",
        r"(?i:password)",
        blank=r"[ \t]{0,3}=?[ \t]{0,3}",
        kind=_SQL,
        sure=False,
    ),
    _Command("pass", "", "PASSWORD", kind=_SQL, sure=False),
    _Command(
        "pass",
        r"set[ \t]{1,3}",
        r"(?i:password)[ \t]{1,3}(?i:for)[ \t]{1,3}[^\x00-\x20=]{1,80}",
        blank=r"[ \t]{0,3}=[ \t]{0,3}",
        kind=_SQL,
    ),
    _Command("pass", "", "PASSWORD", blank=r"[ \t]{0,2}\([ \t]{0,2}", kind=_SQL),
    # A secret that a cluster printed below the question.
    _Command(
        "secret",
        r"kubectl[ \t][^\x0a]{0,80}",
        r"(?i:secret)[^\x0a]{0,120}jsonpath[^\x0a"
        r"]{0,160}",
        blank=r"\x0d?\x0a[ \t]{0,4}",
        kind="kubernetes-secret",
        sure=False,
        low=6,
    ),
)
_REACH = 460


class CommandRule:
    """One row of the table: the value behind a command or a statement."""

    def __init__(self, row: _Command, compiled: Compile) -> None:
        self.row = row
        words = row.needles.split() if not row.needles.startswith(" ") else [row.needles]
        self.needles = tuple(word.encode() for word in words)
        self.reach = _REACH
        start = f"{row.before}{row.blank}(?:{ANSI})?"
        self.probe = f"{row.before}{row.blank}"
        self.triggers = tuple(
            f"{_in_any_case(row.lead)}{start}{value}"
            for value in (f"{_QUOTE}{_IN_QUOTES}{{{row.low}}}", f"{_WORD}{{{row.low}}}")
        )
        self._quoted = compiled(f"{start}{_QUOTE}({_IN_QUOTES}{{{row.low},200}}){_QUOTE}")
        self._bare = compiled(f"{start}({_WORD}{{{row.low},200}})")

    @cached_property
    def _lead(self) -> re.Pattern[bytes] | None:
        lead = self.row.lead
        return re.compile(lead.encode() + b"$", re.IGNORECASE) if lead else None

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._quoted.match(text.data, at, text.high)
        quoted = match is not None
        match = match or self._bare.match(text.data, at, text.high)
        if match is None or (
            self._lead is not None and self._lead.search(text.before(at, 160)) is None
        ):
            return
        if self._is_secret(text.value(match.start(1), match.end(1)), quoted=quoted):
            yield PossibleSecret(match.start(1), match.end(1), self.row.kind, 2)

    def _is_secret(self, value: str, *, quoted: bool) -> bool:
        if not self.row.sure or (self.row.kind == _SQL and not quoted):
            return looks_secret(value, Bar.PASSWORD, quoted=quoted)
        if re.fullmatch("[A-Za-z']+(?: [A-Za-z']+)+", value):
            return False  # Part of a sentence.
        # A word in capitals is a name that the reader should fill in.
        return not is_stand_in(value) and not re.fullmatch(r"[A-Z][A-Z_]+[0-9]?", value)


def _in_any_case(pattern: str) -> str:
    return f"(?i:{pattern})" if pattern else ""


class PipedRule:
    """`echo ... | sudo -S`, `echo user:... | chpasswd`, `echo ... | docker login --password-stdin`:
    the value stands before the command.
    """

    needles = (b" sudo", b"pass")
    triggers = (
        r"\|[ \t]{0,3}sudo[ \t](?:[^\x0a|]{0,20}[ \t])?(?:-[A-Za-z]{0,3}S|--stdin)",
        r"\|[ \t]{0,3}(?:sudo[ \t]{1,2})?chpasswd",
        r"\|[ \t]{0,3}(?:sudo[ \t]{1,2})?passwd[ \t]--stdin",
        r"\|[^\x0a|]{1,100}[ \t]--password-stdin",
    )
    probe = r" ?sudo[ \t](?:[^\x0a|]{0,20}[ \t])?-|passwd"
    reach = 60
    _says = (
        rb"(?:echo(?:[ \t]-[neE]{1,3})?|printf(?:[ \t]{1,3}[\"']%s(?:\\n)?[\"'])?)[ \t"
        rb"]{1,3}\\{0,3}"
    )
    _ends = rb"\\{0,3}[\"']?[ \t]{0,3}\|[ \t]{0,3}(?:sudo[ \t]{1,2})?(?:ch)?$"
    _ends_before_option = rb"\\{0,3}[\"']?[ \t]{0,3}\|[^\x0a|]{1,100}[ \t]--$"
    _user = rb"[A-Za-z_][A-Za-z0-9_.\-]{0,31}:"
    _value = rb"(?:[\"'](?:%s)([^\x00-\x1f\"'\\]{4,128})|(?:%s)([^\x00-\x20\"'`\\;|&<>]{4,128}))"
    _alone = re.compile(_says + _value % (b"", b"") + _ends)
    _read_by_option = re.compile(_says + _value % (b"", b"") + _ends_before_option)
    _named = re.compile(_says + _value % (_user, _user) + _ends)

    def __init__(self, compiled: Compile) -> None:
        self._reader = compiled(
            r"(?: ?sudo[ \t](?:[^\x0a|]{0,20}[ \t])?(?:-[A-Za-z]{0,3}S|--stdin)|passwd[ \t]--stdin)"
        )

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        before = text.before(at, 240)
        if text.data[at : at + 6] == b"passwd" and before.endswith(b"ch"):
            said = self._named.search(before)
        elif text.data[at : at + 14] == b"password-stdin":
            said = self._read_by_option.search(before)
        elif self._reader.match(text.data, at, text.high) is not None:
            said = self._alone.search(before)
        else:
            return
        if said is None:
            return
        group = 1 if said.start(1) >= 0 else 2
        start = at - len(before) + said.start(group)
        end = at - len(before) + said.end(group)
        if not is_stand_in(text.value(start, end)):
            yield PossibleSecret(start, end, "command-password", 2)


def command_rules(compiled: Compile) -> list[Rule]:
    """All the rules of this module."""
    return [PipedRule(compiled), *(CommandRule(row, compiled) for row in _COMMANDS)]
