"""What we must know of any service that somebody names in the settings: where it is,
its key, how it refuses, when to try again.

The key is in the environment and nowhere else, and is read at each request. A
stranger's words (a refusal, a place to go on to) are shown short, on one line.
"""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.errors import SettingsError

if TYPE_CHECKING:
    from recollect.errors import RecollectError
    from recollect.settings import Settings

# Answers that say "not now" rather than "no".
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


def address_of(settings: Settings, section: str) -> str:
    """The base address of a section's service, which names nobody and asks nothing."""
    address = settings.text(f"{section}.url").rstrip("/")
    try:
        parts = urlsplit(address)
        sound = (
            parts.scheme in ("http", "https")
            and parts.hostname
            and not parts.query
            and parts.port != 0
        )
    except ValueError:
        sound = False
    if not sound:
        raise SettingsError(
            f"{section}.url is not an address.",
            hint="Use an address such as http://localhost:11434/v1.",
        )
    if "@" in parts.netloc:
        hint = (
            "Put the key into an environment variable, and the name of that variable into "
            f"{section}.key_variable."
        )
        raise SettingsError(f"{section}.url contains a user name or password.", hint=hint)
    return address


def is_local(address: str) -> bool:
    """Whether an address is this machine: the environment's proxy is for the world outside."""
    return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")


def get_key(settings: Settings, section: str, unavailable: type[RecollectError]) -> str:
    """The key of a section's service; empty when it needs none."""
    variable = settings.text(f"{section}.key_variable")
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise unavailable(
            f"{section}.key_variable names {variable}, which is not set here.",
            hint=f"Export {variable}, or clear {section}.key_variable if the service needs no key.",
        )
    if not (key.isascii() and key.isprintable()):
        # The library below would refuse it too, and print it.
        raise unavailable(f"{variable} does not contain a key.", hint="Look for line breaks in it.")
    return key


def refusal(
    settings: Settings, section: str, host: str, code: int, *, location: str, words: str
) -> tuple[str, str]:
    """What a refusal means to the person who set the service up, and what they can do about it."""
    if code in (401, 403):
        # Services like to repeat a part of the key they did not like, so their words are not shown.
        what = "refused the key" if settings.text(f"{section}.key_variable") else "wants a key"
        return (
            f"{host} {what} ({code}).",
            f"Check {section}.key_variable and the environment variable that it names.",
        )
    if code in range(300, 400):
        place = shown(location) or "nowhere"
        told = f"{host} redirects to {place} ({code}); we do not follow redirects."
        return told, f"Set {section}.url to the address of the service itself."
    key = os.environ.get(settings.text(f"{section}.key_variable"), "").strip()
    said = shown(words, key)
    hint = (
        "Try again later."
        if code in PASSING
        else f"Check {section}.url, {section}.model and the other keys of [{section}]."
    )
    told = f"{host} answered {code}"
    return f"{told}: {said}" if said else told, hint


def wait_before(
    tried: int, told_seconds: float | None, *, first_seconds: float, longest_seconds: float
) -> bool:
    """Wait before the next try, as long as the service says or twice as long each time.

    False when it says too long.
    """
    if (told_seconds or 0) > longest_seconds:
        return False
    # Many processes that were refused together should not come back together.
    backoff = first_seconds * 2**tried * random.uniform(0.5, 1)
    time.sleep(min(backoff, longest_seconds) if told_seconds is None else told_seconds)
    return True


def shown(words: str, key: str = "") -> str:
    """A stranger's words, fit for one line of a terminal, and without our key."""
    told = words.replace(key, "[key]") if key else words
    return "".join(letter for letter in " ".join(told.split()) if letter.isprintable())[:200]


def retry_after(told: str | None) -> float | None:
    """How long a service asks us to wait: it says seconds, or a date."""
    if not told:
        return None
    if told.strip().isdigit():
        return float(told)
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        until = parsedate_to_datetime(told)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0)
