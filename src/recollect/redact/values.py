"""What a value looks like: is it a secret, a stand-in for one, or just code?

A token with a provider's prefix speaks for itself. A value that is a secret
only because of the name in front of it does not: `password = getpass()`,
`token: str` and `api_key = "your-key-here"` all have the shape of an
assignment and none of them holds a secret. The tests here separate the two
without a dictionary, by asking whether the pieces of a value could be words.
"""

from __future__ import annotations

import re
from enum import IntEnum
from itertools import pairwise


class Bar(IntEnum):
    """How much a value must look like a secret, given the name in front of it."""

    ANYTHING = 0  # a password in a place where only a password can stand
    PASSWORD = 1  # people choose passwords: two kinds of characters will do
    SECRET = 2  # machines make tokens: some part must look random
    KEY = 3  # "key" means many things: the whole must be long and random


def words(text: str) -> frozenset[str]:
    """A set of words, written as one would say them."""
    return frozenset(text.split())


OUR_TAG = re.compile(r"\[REDACTED:[a-z0-9-]+:[0-9a-f]{8}\]")

# Where a secret would be, something else stands.
_REFERENCES = re.compile(
    "|".join(
        (
            # It says so.
            r"placeholder|not[-_]?(?:a[-_]?)?real|change[-_]?(?:me|this|it)|replace[-_]?(?:me|th"
            r"is|with)",
            r"(?:^|[^a-z0-9])(?:your|example|redacted)(?:[^a-z0-9]|$)|EXAMPLE|^your[a-z]+$",
            r"^(?:insert|enter|dummy|fake|sample|invalid)[a-z]",
            r"[-_]here$|^[a-z]{0,5}[-_]?(?:password|passwd|secret|token)[-_]?[0-9]{0,4}$",
            # It is masked or cut short.
            r"\*\*\*|\.\.\.|xxxx|<[a-z]{3}[a-z0-9 _./-]*>|^<(?:[a-z _-]*>?$|[%?])|^\[(?:redacted"
            r"|[a-z_ -]*\]?$)|REMOVED",
            # It is a variable, a template or a format.
            r"\$\{[a-z_]|\{\{[ a-z_.0-9|]*(?:\}|$)|\$\([a-z]|%\([a-z_]+\)|#\{[a-z@]|^\{\}|\{[a-z"
            r"_][a-z_.0-9]+\}|^%[a-z_]+%$|^:[a-z_]+$",
            # It tells where the secret is.
            r"process\.env|os\.environ|getenv|import\.meta|secrets\.[a-z]|vault:|^ref\+|^op://",
            r"^(?:arn|ssm|urn|file|https?):|^env[.:]",
            # It is a pattern.
            r"\(\?[=!:]|\.\*[^a-z]|\[\^[^\]]+\]|\[a-z\]?-|\[0-9\]|\[a-z0-9|\{[0-9]+,[0-9]*\}",
            # It is a path, a number or a date.
            r"^(?:~|\.\.?)/|^[-+]?[0-9]*\.[0-9]+(?:e[-+]?[0-9]+)?$|^[0-9]{4}-[0-9]{2}-[0-9]{2}(?"
            r":T|$)",
        )
    ),
    re.IGNORECASE,
)
# `$NAME`, `@file`, `&config.password`, `%s`: a name behind a sign, and nothing else.
_SIGNED = re.compile(r"[$@&]+[:.]?([A-Za-z_][A-Za-z0-9_.:]*)|\$[0-9]|%[sdv]")
# Words of a stand-in when there is nothing beside them but words.
_PRETENDS = words(
    "my the some mock foo bar baz todo fixme sample dummy fake hidden masked omitted scrubbed "
    "insert enter example goes here this that a an "
)
_VOCABULARY = words(
    "password passwd pass pwd passphrase secret secrets token tokens key keys api access auth "
    "new old current confirm my your the some test testing user username admin root default db "
    "database app application client server jwt bearer value string name super very not real "
    "long short a an is for this that of and or to be in on with random generated hash hashed "
    "encrypted plain plaintext raw placeholder example sample dummy fake mock invalid valid "
    "wrong bad good correct incorrect initial temporary temp login signin signup reset forgot "
    "form field input label error message text type required optional empty missing none null "
    "must should session refresh service account private public basic oauth id dev prod staging "
    "local production development change changed update here host demo guest page link email "
    "manager provider policy strength file path env variable first second third other another "
    "one two three foo bar baz same different expected actual redis postgres mysql mongo "
    "rabbitmq minio docker stripe github gitlab openai anthropic google aws azure slack webhook "
    "signing encryption cookie csrf web bot device "
)
_PLAIN = re.compile(r"[A-Za-z]+(?:[-_. :/+][A-Za-z0-9]+)*[-_]?[0-9]{0,5}[.!]?")
# A stand-in inside a token that has a provider's prefix. Shorter than the list
# above: sixty random characters contain any three letters now and then.
_SAMPLE = re.compile(
    r"redacted|example|placeholder|x{6}|\*\*\*|\.\.\.|(?:^|[-_])(?:your|my)[-_]|changeme|0{12}|"
    r"1234567890123456789",
    re.IGNORECASE,
)
_TRIVIAL = words(
    "password passwd pass pwd secret token apikey api_key key user username admin administrator "
    "root test testing "
    "tests guest demo default none null nil undefined true false empty string str bytes text "
    "changeit letmein "
    "postgres postgresql mysql mariadb mongo mongodb redis rabbitmq minio minioadmin elastic neo4j "
    "sa oracle vagrant "
    "docker localhost example foo bar baz foobar qwerty 12345 123456 1234567 12345678 123456789 "
    "1234567890 abc123 "
    "password1 password123 passw0rd p@ssw0rd p@ssword secret123 test123 admin123 pass123 pass1234 "
    "xxx yyy zzz abc "
    "required optional unknown yes no on off todo tbd value variable env bearer basic digest "
    "ignore disabled enabled "
    "mypassword mysecret mytoken mykey yourpassword yoursecret yourtoken testpassword "
    "test_password testpass "
    "dev development prod production staging local postgres123 hunter2 s3cret s3cr3t sekret "
    "topsecret supersecret "
    "super-secret super_secret not-a-secret no-secret"
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ALPHABETS = (_DIGITS + _LETTERS * 2 + _DIGITS, _DIGITS * 8, (_DIGITS + "abcdef") * 8)

_BREAKS = re.compile(r"[-_./:,=+@#%&?!*~|^$\s]+")
_WORDLIKE = re.compile(
    r"(?:[A-Za-z][a-z]*|[A-Z]+)(?:[A-Z][a-z]+|[A-Z]{2,6}(?![a-z]))*[0-9]{0,5}s?|[0-9]{1,10}[A-Za"
    r"-z]{0,3}|v?[0-9.]+"
)
_TURNS = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
# The pairs of letters that English and identifiers are made of: nine of ten
# pairs there, one of four by chance.
_PAIRS = words(
    "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve "
    "co me de hi ri ro ic "
    "ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly "
    "nc et ut ss so rs un "
    "lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am "
    "fi ci vi pl ig tu ev "
    "ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by "
    "rm ep tt oc fa ef cu "
    "rn sc gi da cr cl qu ue ey um pp up ck ke ok pt ui rk ob rg ib"
)
_CAMEL = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)(?:[A-Z][a-z]+|[A-Z]{2,5})*[0-9]{0,4}")
_MARK_INSIDE = re.compile(r"[A-Za-z0-9][!#%^*$~@][A-Za-z0-9]")
# A word, a year or a number, a mark at the end: what a policy makes of people.
_SEASONAL = re.compile(r"[A-Z][A-Za-z]{2,}[0-9]{2,6}[!@#$%&*?.+_-]{1,3}")
_PHRASE = re.compile(r"[A-Za-z]{3,12}(?:-[A-Za-z]{3,12}){3,8}")
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CALLED = re.compile(
    r"[!&*({\[]*([A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][A-Za-z"
    r"0-9_$]*)*)[(\[{<]"
)
_HEX = re.compile(r"[0-9a-fA-F]+")
_WORDS_ONLY = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*")
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::|->|\?\.)[A-Za-z_][A-Za-z0-9_]*)+[;,]?")


def is_stand_in(value: str) -> bool:
    """Whether a value only marks the place of a secret: a variable, a mask, an example."""
    if len(value) > 80:
        value = value[:64] + value[-16:]  # Stand-ins show early; a long value must not take long.
    return (
        value.lower().strip("\"'`;,.") in _TRIVIAL
        or _REFERENCES.search(value) is not None
        or _is_signed(value)
        or _pretends(value)
        or is_monotone(value)
        or _is_counting(value)
    )


def _is_signed(value: str) -> bool:
    """Whether a value is a name behind a sign: `$DB_PASSWORD`, `@password.txt`, `&password`."""
    signed = _SIGNED.fullmatch(value)
    if signed is None:
        return False
    name = signed.group(1)
    if name is not None and value[0] in "@&" and name.isalnum() and re.search("[0-9]{3}", name):
        return False  # Nobody's file or parameter is called `home1234`.
    return name is None or not (is_random(name) or (len(name) >= 8 and is_jumbled(name)))


def _pretends(value: str) -> bool:
    """Whether a value is made of the words that stand-ins are made of: `my-new-password1`.

    One such word says nothing: people choose `my`, `hidden` and `example`
    for their passwords too, among other words or with marks between.
    """
    if _is_spelled(value):
        return not _SEASONAL.fullmatch(value) or value.lower().startswith(
            ("pass", "test", "secret", "change", "example", "demo", "my")
        )
    if _PLAIN.fullmatch(value) is None:
        return False
    said = re.findall("[a-z]+", value.lower())
    return len(said) <= 4 and not _PRETENDS.isdisjoint(said) and not is_passphrase(value)


def _is_spelled(value: str) -> bool:
    """Whether a value is words about secrets, glued or not, with a number behind them."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.: -]*!?", value):
        return False
    bare = value.rstrip("!0123456789")
    pieces = [piece for piece in re.split("[^a-z]+", bare.lower()) if piece]
    return all(
        piece in _VOCABULARY
        or any(
            piece[:at] in _VOCABULARY and piece[at:] in _VOCABULARY for at in range(1, len(piece))
        )
        for piece in pieces
    ) and not re.search("[0-9]", bare)


def is_jumbled(value: str) -> bool:
    """Whether letters, digits and marks take turns as they never do in words or code."""
    if is_called(value):
        return False
    kinds = [_kind_of(one) for one in value]
    changes = sum(one != other for one, other in pairwise(kinds))
    return len(set(kinds)) >= 3 and changes * 20 >= (len(kinds) - 1) * 9


def is_called(value: str) -> bool:
    """Whether a value begins as a call or an index does: `get_password(`, `rows[`."""
    called = _CALLED.match(value)
    if called is None or len(called.group(1)) < 3 or re.search("[0-9][A-Za-z]", called.group(1)):
        return False
    if re.search("[#^~@%!$]", value[called.end() :]):
        return False  # No language has these among its arguments, unquoted.
    closer = _CLOSERS[called.group()[-1]]
    return _reads_as_name(called.group(1)) and (closer == ")" or closer in value)


def _reads_as_name(name: str) -> bool:
    """Whether most pairs of letters in a name are those that words are made of."""
    parts = [part.lower() for part in re.findall("[A-Z]*[a-z]+|[A-Z]+", name)]
    pairs = [part[at : at + 2] for part in parts for at in range(len(part) - 1)]
    return bool(pairs) and sum(pair in _PAIRS for pair in pairs) * 2 >= len(pairs)


def _kind_of(one: str) -> int:
    return 0 if one.islower() else 1 if one.isupper() else 2 if one.isdigit() else 3


def is_passphrase(value: str) -> bool:
    """Four words or more, with the same mark between them, none of which speaks of passwords."""
    if _PHRASE.fullmatch(value) is None:
        return False
    said = re.findall("[a-z]+", value.lower())
    return len(set(said)) >= 4 and _VOCABULARY.isdisjoint(said)


def is_seasonal(value: str) -> bool:
    """`Summer2024!`: a word with a number and a mark behind it."""
    return _SEASONAL.fullmatch(value) is not None


def is_code(value: str) -> bool:
    """Whether a value reads as a name with dots: `settings.password`."""
    return _CODE.fullmatch(value) is not None


def is_sample(token: str) -> bool:
    """Whether a token with a provider's prefix is the one from the manual, or a mask."""
    return _SAMPLE.search(token) is not None or is_monotone(token)


def is_monotone(value: str) -> bool:
    """Few different characters, or one of them over and over: `xxxx-xxxx`, `AAAAAAAA0`."""
    kinds = set(value)
    if len(kinds) <= 3 + len(value) // 32:
        return True
    most = max(map(value.count, kinds))
    return most > 5 and most * 2 > len(value)


def _is_counting(value: str) -> bool:
    bare = re.sub(r"[^a-z0-9]", "", value.lower())
    return len(bare) >= 5 and any(bare in alphabet for alphabet in _ALPHABETS)


def looks_secret(value: str, bar: Bar, *, quoted: bool) -> bool:
    """Whether the value of an assignment could be a secret, judged by its characters.

    `quoted` says that the value stood in quotes. Without them it may be an
    expression, so that a name such as `token2` or `settings.password` must
    not count as a password that happens to hold a digit.
    """
    if is_stand_in(value):
        return False
    if bar is Bar.ANYTHING:
        return True
    if not quoted and is_code(value):
        return False
    if value.isdigit():
        return bar is not Bar.KEY and len(value) >= 12
    if bar is Bar.KEY:
        return len(value) >= 16 and is_random(value) and not _is_id(value)
    if bar is Bar.PASSWORD and (
        is_seasonal(value) or is_passphrase(value) or _is_password(value, quoted=quoted)
    ):
        return True
    return len(value) >= 8 and (is_random(value) or _is_strong(value))


_WEAK_TOKEN = re.compile(r"[A-Za-z0-9_-]{10,64}")
_TYPED = re.compile(
    r"(?:u?int|float|f|i|u|char|n?varchar|string|text|bytes?|bits?|sha|md|aes|utf|base|bcrypt|ar"
    r"gon|rsa|ed|"
    r"curve|ecdsa|p|hs|rs|es|ps|hmac|pbkdf|v|version|page|item|user|test|example|type|rfc|iso|ht"
    r"tp)[-_]?[0-9_-]+",
    re.IGNORECASE,
)


def is_weak_secret(value: str, bar: Bar) -> bool:
    """Whether a value that could be words and a number is a secret, given the name before it.

    What this finds is taken where it stands and nowhere else.
    """
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    if is_stand_in(value) or _TYPED.fullmatch(value) or re.search("[0-9]{4}-[0-9]{2}", value):
        return False
    if bar is Bar.PASSWORD:
        return letters >= 3 and digits >= 3 and value.isalnum()
    return (
        bar is Bar.SECRET
        and letters >= 4
        and digits >= 4
        and _WEAK_TOKEN.fullmatch(value) is not None
    )


def _is_strong(value: str) -> bool:
    """Small letters, capitals, and a mark among them: what forms ask of a password."""
    capitals = sum(map(str.isupper, value))
    return (
        len(value) >= 10
        and _MARK_INSIDE.search(value) is not None
        and any(map(str.islower, value))
        and (capitals >= 3 or (capitals > 0 and any(map(str.isdigit, value))))
    )


def _is_password(value: str, *, quoted: bool) -> bool:
    if len(value) < 6 or _WORDS_ONLY.fullmatch(value.rstrip("!?:*,;")):
        return False
    has_letter = any(map(str.isalpha, value))
    has_digit = any(map(str.isdigit, value))
    marks = sum(not (c.isalnum() or c in "_-./:=") for c in value)
    if quoted:
        strange = has_digit or marks > 0 or is_jumbled(value)
        return has_letter and strange and not _looks_like_path(value)
    return (
        has_letter
        and has_digit
        and (marks > 0 or len(value) >= 8)
        and (not _is_wordy(value) or _is_strong(value) or (marks > 0 and is_jumbled(value)))
    )


def _looks_like_path(value: str) -> bool:
    if is_jumbled(value):
        return False
    return ("/" in value or value.startswith((".", "~"))) and _is_wordy(value)


def _is_wordy(value: str) -> bool:
    """Whether every piece of a value could be a word, a number or a word with a number."""
    return all(not _random_piece(piece) for piece in _BREAKS.split(value))


def _is_id(value: str) -> bool:
    """Git objects, digests and UUIDs: random, and yet mostly not a key."""
    bare = value.replace("-", "")
    return len(bare) in (32, 40, 64, 128) and _HEX.fullmatch(bare) is not None


def is_random(value: str) -> bool:
    """Whether some piece of a value cannot be read as words and numbers."""
    bare = value.replace("-", "")
    if len(bare) >= 16 and _HEX.fullmatch(bare) and len(_TURNS.findall(bare)) >= 4:
        return True
    return any(map(_random_piece, _BREAKS.split(value))) or (len(value) >= 20 and _mixed(value))


def _mixed(value: str) -> bool:
    # Separators may cut a random string into pieces too short to judge.
    return len(_TURNS.findall(value)) >= 5 and not all(
        map(_WORDLIKE.fullmatch, filter(None, _BREAKS.split(value)))
    )


def _random_piece(piece: str) -> bool:
    if len(piece) < 6:
        return False
    turns = len(_TURNS.findall(piece))
    if turns >= 3 or (turns == 2 and len(piece) >= 8):
        return True
    if turns == 1 and _WORDLIKE.fullmatch(piece) is None:
        return True
    if len(piece) < 8:
        return False
    if len(piece) >= 20 and 0.3 < sum(map(str.isupper, piece)) / len(piece) < 0.7:
        return True
    # Capitals where no word begins are a sign of their own.
    expected = 0.6 if _CAMEL.fullmatch(piece) is None else 0.42 if len(piece) >= 12 else 0.3
    return _common_pairs(piece) < expected


def _common_pairs(piece: str) -> float:
    letters = [word.lower() for word in re.findall("[A-Za-z]+", piece)]
    pairs = [word[at : at + 2] for word in letters for at in range(len(word) - 1)]
    return sum(pair in _PAIRS for pair in pairs) / len(pairs) if len(pairs) >= 6 else 1.0
