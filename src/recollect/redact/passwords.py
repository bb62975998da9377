"""Passwords that people chose, where the name says so: unquoted, in prose, on the next line.

What stands behind a password's name may hold any mark that a keyboard has, and
nothing closes it. So everything up to a blank is read, what belongs to the
text around it is cut off, and then it has to look like no code and no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.redact.assignments import bar_of, read_back
from recollect.redact.rules import ANSI, Compile, IsName, PossibleSecret, Rule, RuleText, never
from recollect.redact.values import (
    Bar,
    is_called,
    is_code,
    is_jumbled,
    is_passphrase,
    is_random,
    is_seasonal,
    is_stand_in,
    looks_secret,
    words,
)

_TAIL = r"[A-Za-z0-9_.\-]{0,40}"
_CLOSE = rf"(?:\\{{0,6}}[\"'`]\]?|\*{{1,2}})?(?:{ANSI})?"
_JOIN = rf"(?:[ \t]{{0,16}}(?::\*{{1,2}}|={{1,2}}>?|:=?)[ \t]{{0,8}}(?:{ANSI})?)"
_RUN = r"[^\x00-\x20\"'`\\]"
# Where the next setting, the next parameter or the rest of a sentence begins.
_NEXT = re.compile(
    r"[;,&](?:[A-Za-z][A-Za-z_. ]{0,30}=.*)?$|[;,](?=[A-Za-z ]+:)|[\])}>,;.:]+$|</[A-Za-z].*$|&q"
    r"uot;.*$"
)
# Words for a password whose letters are not ASCII, in texts of the length that
# people type. They are read as a sign that no text has, as long as the word is.
_FOREIGN = ("密码", "密碼", "パスワード", "비밀번호", "ароль", "contraseña")
_SIGN = "\x0e"
_SIGN_BYTE = ord(_SIGN)
_TYPED = 600


def as_read(text: str) -> str:
    """The text with foreign words for a password as signs, each character for one."""
    if len(text) <= _TYPED and not text.isascii():
        for word in _FOREIGN:
            if word in text:
                text = text.replace(word, _SIGN * len(word))
    return text


class UnquotedPasswordRule:
    """`password: 7gQ&9-ppL`, `DB_PASSWORD=Winter2026!`: any mark may stand in the value."""

    needles = (b"pass", b"pwd")
    triggers = (rf"(?i:pass|pwd){_TAIL}{_CLOSE}{_JOIN}{_RUN}{{6}}",)
    probe = rf"(?i:pass|pwd){_TAIL}{_CLOSE}{_JOIN}{_RUN}"
    reach = 160

    def __init__(self, compiled: Compile, is_name: IsName = never) -> None:
        self._is_name = is_name
        self._assignment = compiled(rf"(?i:pass|pwd)({_TAIL}){_CLOSE}({_JOIN})({_RUN}{{6,256}})")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._assignment.match(text.data, at, text.high)
        if match is None:
            return
        name = read_back(text, at) + text.value(at, match.end(1))
        join = text.value(match.start(2), match.end(2))
        if bar_of(name) is not Bar.PASSWORD or (name.lower() == "pass" and join != "="):
            return
        start, follows = match.start(3), text.after(match.end(3))
        value = _without_rest(text.value(start, match.end(3)))
        if follows >= 0 and follows in b"\"'`" and re.search(r"[(\[{,]", value):
            return  # The beginning of an expression.
        if _is_chosen(value) or (
            join == "=" and name.isupper() and looks_secret(value, Bar.PASSWORD, quoted=True)
        ):
            yield PossibleSecret(start, start + len(value), "assigned-password", 3)
        elif (
            join == "="
            and name.isupper()
            and _WORD.fullmatch(value)
            and not is_stand_in(value)
            and not self._is_name(value)
        ):
            yield PossibleSecret(start, start + len(value), "weak-password", 4)


# `PASSWORD=webshop` in an env file: a word, and yet no expression can stand there.
_WORD = re.compile("[a-z]{6,24}")


def _without_rest(value: str) -> str:
    """A value without what only stands behind it."""
    cut = _NEXT.search(value)
    return value[: cut.start()] if cut is not None else value


_CODE_INSIDE = re.compile(r"://|[a-z]->[a-z{]|^&#")


def _is_chosen(value: str) -> bool:
    """Whether an unquoted value can only be a password: no expression, no word, no path."""
    if len(value) < 6 or is_stand_in(value) or _CODE_INSIDE.search(value):
        return False
    if is_seasonal(value) or is_passphrase(value) or (len(value) >= 7 and is_jumbled(value)):
        return True
    if value.isalpha():
        return len(value) >= 12 and is_random(value)
    marks = {one for one in value if not one.isalnum()}
    return (
        len(value) >= 10
        and len(marks) >= 2
        and not marks.isdisjoint("!@#$%^*~?")
        and not is_called(value)
    )


class ProsePasswordRule:
    """`the password is ...`, in a few languages; only what no word could be."""

    needles = (b"pass", b" pw", b"\x0e")
    _word = r"(?i:passwort|passwords?|passwd|passe|passphrase| pw)"
    _is = (
        r"(?:[ \t]{0,2}[:=][ \t]{0,2}|[ \t]{1,2}(?i:is|ist|es|est|was|lautet|=>|to|e|on|je)[ \t"
        r"]{1,2}(?i:now[ \t])?:?[ \t]{0,2}"
        r"|[ \t]{1,2}|[ \t]{0,2}\?{1,3}[ \t]{0,2})"
    )
    _open = r"[\"'`*]{0,3}"
    _told = rf"(?:{_word}{_is}|\x0e{{2,16}}[ \t]{{0,2}}[:=?]{{0,3}}[ \t]{{0,2}}){_open}"
    triggers = (rf"{_told}[!-~]{{6}}",)
    probe = _told
    reach = 60

    def __init__(self, compiled: Compile) -> None:
        self._said = compiled(rf"{self._told}([!-~]{{6,128}})")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        before = text.before(at, 1)
        if before.isalnum() or before in (b"_", b"-", b"+", b"/", b"\x0e"):
            return
        match = self._said.match(text.data, at, text.high)
        if match is None:
            return
        start = match.start(1)
        value = re.split(r"[\"'`\\<>]|\?(?=\?|$)|\*\*|&#|&lt;", text.value(start, match.end(1)))[0]
        value = _without_rest(value).rstrip(".,;:)]}*")
        # Behind `пароль:` there is never code, as there may be behind `password:`.
        assigned = (
            text.data[at] == _SIGN_BYTE
            and re.search(b"[:=]", text.data[at:start]) is not None
            and "?" not in value  # What is not ASCII reads as that.
        )
        if _is_told(value) or (assigned and _is_chosen(value)):
            yield PossibleSecret(start, start + len(value), "told-password", 3)


_METHODS = re.compile(
    r"(?:sha|md|aes|utf|base|bcrypt|scrypt|pbkdf|argon|rsa|ed|hs|rs|es|iso|rfc|oauth|http|ipv|x|"
    r"v|py|node|python)[-_]?[0-9]",
    re.IGNORECASE,
)


def _is_told(value: str) -> bool:
    """Whether a word of a sentence can only be a password: letters, digits, and disorder."""
    if len(value) < 6 or is_stand_in(value) or _METHODS.match(value) or "://" in value:
        return False
    if not (any(map(str.isalpha, value)) and any(map(str.isdigit, value))):
        return False
    if is_seasonal(value) or (is_passphrase(value.rstrip("0123456789-"))):
        return True
    if is_jumbled(value):
        return len(value) >= 8 or re.search("[!#$%^&*@]", value) is not None
    # Names have their numbers at an end, or once.
    return len(value) >= 12 and value.isalnum() and len(re.findall("[0-9]+[A-Za-z]", value)) >= 2


class NextLineRule:
    """A name alone on its line, and its value alone on the next, or in a block of code below."""

    needles = (b"pass", b"secret", b"token", b"key")
    _name = r"(?i:password|secret|token|key)(?:[ \t](?i:key))?"
    _line = r"[ \t]{0,4}\x0d?\x0a(?:[ \t]{0,4}(?:```[a-z]{0,6})?\x0d?\x0a){0,2}[ \t]{0,8}[`\"']?"
    _value = r"[A-Za-z0-9_.+/=~!@#$%^&*?:,|<>(){}\[\]\-]"
    triggers = (
        rf"{_name}\*{{0,2}}:\*{{0,2}}{_line}{_value}{{8}}",
        rf"{_name}\*{{0,2}}{_line}{_value}{{16}}",
    )
    probe = rf"{_name}\*{{0,2}}:?\*{{0,2}}{_line}"
    reach = 60

    def __init__(self, compiled: Compile) -> None:
        self._closed = compiled(
            rf"{self._name}\*{{0,2}}:\*{{0,2}}{self._line}({self._value}{{8,512}})"
        )
        self._open = compiled(rf"{self._name}\*{{0,2}}{self._line}({self._value}{{16,512}})")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        closed = self._closed.match(text.data, at, text.high)
        match = closed or self._open.match(text.data, at, text.high)
        if match is None:
            return
        start, end = match.start(1), match.end(1)
        follows = end + (text.after(end) in (0x22, 0x27, 0x60))
        if text.after(follows) not in (-1, 0x0A, 0x0D):
            return
        value = text.value(start, end)
        if is_stand_in(value) or is_code(value) or _DIGEST.fullmatch(value):
            return
        is_password = closed is not None and text.data[at : at + 4].lower() == b"pass"
        if (
            is_jumbled(value)
            or (is_random(value) and len(value) >= 16)
            or (is_password and _is_chosen(value))
        ):
            yield PossibleSecret(start, end, "assigned-secret", 3)


_DIGEST = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
# Words that no mnemonic has, and every long sentence.
_SENTENCE = words(
    "the and for with from are was not which must should has have it its is of to in on as be by "
    "or an if"
)


class MnemonicRule:
    """The words that a wallet is made from again, behind a word that says so."""

    needles = (b"mnemonic", b"phrase")
    _word = r"[a-z]{3,8}"
    _start = (
        r"(?i:mnemonic|phrase)[A-Za-z_ ]{0,12}\\{0,3}[\"'`]?[ \t]{0,3}[:=]?[ \t]{0,3}(?i:is[ :"
        r"]{1,2})?[\x0a ]{0,3}\\{0,3}[\"'`]?"
    )
    triggers = (rf"{_start}{_word}(?:[ ,]{{1,2}}{_word}){{5}}",)
    probe = _start
    reach = 160

    def __init__(self, compiled: Compile) -> None:
        self._phrase = compiled(rf"{self._start}({self._word}(?:[ ,]{{1,2}}{self._word}){{11,23}})")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._phrase.match(text.data, at, text.high)
        if match is None:
            return
        start = at + _begins(text.value(at, match.start(1)))
        said = re.findall("[a-z]+", text.value(start, match.end(1)))
        if len(said) % 3 == 0 and len(set(said)) > 3 and _SENTENCE.isdisjoint(said):
            yield PossibleSecret(start, match.end(1), "mnemonic", 1)


_BEFORE_WORDS = re.compile(r"(?:^[A-Za-z_]+|\bis\b|[:=\"'`\n])[ \n\\\"'`:]*")


def _begins(introduction: str) -> int:
    """Where the words of a wallet begin, of which the first may have been read as an introduction:
    behind the last sign of one.
    """
    return max((sign.end() for sign in _BEFORE_WORDS.finditer(introduction)), default=0)


class SpacedPasswordRule:
    """`abcd efgh ijkl mnop`: an app password as mail providers show it."""

    needles = (b"pass",)
    _start = r"(?i:pass(?:word|wd)?)\\{0,3}[\"'`]?[ \t]{0,3}(?:[:=]|is)[ \t]{0,3}\\{0,3}[\"'`]?"
    _groups = r"[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4}"
    triggers = (rf"{_start}{_groups}",)
    probe = rf"{_start}{_groups}"
    reach = 60

    def __init__(self, compiled: Compile) -> None:
        self._spaced = compiled(rf"{self._start}({self._groups})")

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        match = self._spaced.match(text.data, at, text.high)
        if match is None or chr(max(text.after(match.end()), 0)).isalnum():
            return
        if is_random(text.value(match.start(1), match.end(1)).replace(" ", "")):
            yield PossibleSecret(match.start(1), match.end(1), "app-password", 2)


class AddressRule:
    """What an address carries: an OAuth code that buys a token, the token of a bot."""

    needles = (b"://", b"auth")
    triggers = (
        r"(?i:://|authorization_code)[^\x00-\x20\"'`\\<>]{0,240}[?&]code=[A-Za-z0-9_.~%/\-]{12}",
        r"://[A-Za-z0-9.\-:]{1,80}/(?:file/)?bot[0-9]{6,12}:[A-Za-z0-9_\-]{20}",
    )
    probe = (
        r"://[A-Za-z0-9.\-:]{1,80}/(?:file/)?bot[0-9]|(?i:://|authorization_code)[^\x00-\x"
        r"20\"'`\\<>]{0,240}[?&]code="
    )
    reach = 420

    def __init__(self, compiled: Compile) -> None:
        self._code = compiled(
            r"(?i:://|authorization_code)[^\x00-\x20\"'`\\<>]{0,240}[?&]code=([A-Za-z0-9_.~%/\-"
            r"]{12,512})"
        )
        self._bot = compiled(
            r"://[A-Za-z0-9.\-:]{1,80}/(?:file/)?bot([0-9]{6,12}:[A-Za-z0-9_\-]{20,64})"
        )

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        bot = self._bot.match(text.data, at, text.high)
        if bot is not None and not is_stand_in(text.value(bot.start(1), bot.end(1))):
            yield PossibleSecret(bot.start(1), bot.end(1), "telegram-bot-token", 1)
        code = self._code.match(text.data, at, text.high)
        if code is not None and looks_secret(
            text.value(code.start(1), code.end(1)), Bar.SECRET, quoted=True
        ):
            yield PossibleSecret(code.start(1), code.end(1), "oauth-code", 3)


def password_rules(compiled: Compile, is_name: IsName = never) -> list[Rule]:
    """All the rules of this module."""
    return [
        UnquotedPasswordRule(compiled, is_name),
        ProsePasswordRule(compiled),
        NextLineRule(compiled),
        MnemonicRule(compiled),
        SpacedPasswordRule(compiled),
        AddressRule(compiled),
    ]
