"""How a hub is reached, and what a join link holds: an address, who one is, and a secret.

A link is an address with what else a device needs behind `#`, which no server is ever sent. It
is the only thing that holds a password and the team's key together, and is printed once.
"""

from __future__ import annotations

import base64
import ipaddress
import os
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit, urlunsplit

from recollect.errors import UsageError

POSTGRES = ("postgresql", "postgres")
LIBSQL = ("libsql", "http", "https", "ws", "wss")
PASSWORD_VARIABLE = "RECOLLECT_TEAM_PASSWORD"
# Turso's own name, which its users have set already.
TOKEN_VARIABLE = "TURSO_AUTH_TOKEN"
_KEYRING = "recollect-team"


class JoinLink(NamedTuple):
    """What a device needs to join: `url` is without the `secret`."""

    url: str
    secret: str
    team: str
    key: bytes
    name: str
    member: str

    def text(self) -> str:
        """The link, for whoever it is meant for and nobody else."""
        parts = urlsplit(self.url)
        said = {
            "team": self.team, "name": self.name, "member": self.member,
            "key": base64.urlsafe_b64encode(self.key).decode().rstrip("="),
            "secret": self.secret,
        }  # fmt: skip
        return urlunsplit(parts._replace(fragment=urlencode(said)))


def parse_link(text: str) -> JoinLink:
    """A link as somebody pasted it."""
    parts = urlsplit("".join(text.split()))
    said = {name: values[0] for name, values in parse_qs(parts.fragment, True).items()}
    try:
        key = base64.urlsafe_b64decode(said["key"] + "=" * (-len(said["key"]) % 4))
        link = JoinLink(
            urlunsplit(parts._replace(fragment="")), said["secret"], str(uuid.UUID(said["team"])),
            key, said["name"], said["member"],
        )  # fmt: skip
    except (KeyError, ValueError) as error:
        raise UsageError(
            "That is not a join link, or not all of it.",
            hint="Ask for one: a member runs `recollect team invite NAME`.",
        ) from error
    check_address(link.url)
    return link


def check_address(url: str) -> str:
    """An address that we may use as it is: of a hub, without a password, encrypted if far."""
    parts = urlsplit(url)
    if parts.scheme not in POSTGRES + LIBSQL:
        raise UsageError(
            f"{url[:100]} is not the address of a hub.",
            hint="It looks like postgresql://user@host/database or libsql://host.",
        )
    query = parse_qs(parts.query)
    if parts.password or {"password", "authToken", "tls_key"} & set(query):
        raise UsageError(
            "An address on a command line must not hold a password: others can see it.",
            hint="Leave it out of the address, and set PGPASSWORD or TURSO_AUTH_TOKEN.",
        )
    if not is_near(url):
        if parts.scheme in POSTGRES:
            mode = query.get("sslmode", ["require"])[0]
            if mode not in ("require", "verify-ca", "verify-full"):
                raise UsageError(
                    f"sslmode={mode} would send what you share without encryption.",
                    hint="Leave it out, or use sslmode=verify-full.",
                )
        elif parts.scheme in ("http", "ws") or query.get("tls") == ["0"]:
            raise UsageError(
                f"{parts.scheme}:// would send what you share without encryption.",
                hint=f"Use libsql://{parts.hostname}.",
            )
    return url


def is_near(url: str) -> bool:
    """Whether a server is on this machine, where nobody can listen in between."""
    host = urlsplit(url).hostname or ""
    if not host or unquote(host).startswith("/") or host == "localhost":
        # A host in the query would count instead of this one.
        return not {"host", "hostaddr"} & set(parse_qs(urlsplit(url).query))
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def with_user(url: str, user: str) -> str:
    """The same address for another user of the server."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{quote(user, safe='')}@{host}"))


def is_postgres(url: str) -> bool:
    return urlsplit(url).scheme in POSTGRES


def find_secret(url: str, team: str, environ: Mapping[str, str]) -> str | None:
    """The password, or token, from the environment, else from the keyring of the system."""
    for variable in (PASSWORD_VARIABLE, *(() if is_postgres(url) else (TOKEN_VARIABLE,))):
        if environ.get(variable):
            return environ[variable]
    with suppress(Exception):  # A keyring may be locked, missing, or of any make.
        import keyring

        found: str | None = keyring.get_password(_KEYRING, _account(url, team))
        return found
    return None


def keep_secret(url: str, team: str, secret: str) -> bool:
    """Give a password to the keyring of the system; False where there is none."""
    with suppress(Exception):
        import keyring

        keyring.set_password(_KEYRING, _account(url, team), secret)
        return bool(keyring.get_password(_KEYRING, _account(url, team)) == secret)
    return False


def drop_secret(url: str, team: str) -> None:
    """Take a password out of the keyring again."""
    with suppress(Exception):
        import keyring

        keyring.delete_password(_KEYRING, _account(url, team))


def _account(url: str, team: str) -> str:
    return f"{team} {urlsplit(url).username or ''}"


def new_secret() -> str:
    return base64.urlsafe_b64encode(os.urandom(24)).decode()
