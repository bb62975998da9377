"""The one frozen Settings: defaults, then config.toml, then the environment.

`recollect search` is started thousands of times a day and may not afford a
TOML parser, so what config.toml says is kept flattened in a small cache beside
it, for as long as the file's size and time do not change.
"""

from __future__ import annotations

import marshal
import os
import sys

from recollect.system import platforms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# key: (default, what it does). The sample config and docs are generated from this table.
KEYS: dict[str, tuple[object, str]] = {
    "store": ("", "path of the SQLite store; empty means recollect.db in this folder"),
    "sources.extra": (
        [],
        "more folders to import from: an agent's root, a home, or a folder of logs",
    ),
    "sources.excluded": ([], "path patterns (with * and ?) that are never imported"),
    "sources.agents": ([], "import only these agents; empty means every supported one"),
    "redact.enabled": (True, "remove secrets before anything is stored"),
    "redact.environment": (
        True,
        "also remove the values of this environment's *_KEY, *_TOKEN, *_SECRET, *_PASSWORD",
    ),
    "embed.provider": (
        "static",
        "what turns text into vectors: static (built in), onnx, gguf or remote",
    ),
    "embed.model": ("", "onnx and gguf: path of the model; remote: its name"),
    "embed.url": (
        "",
        "remote: base address of an OpenAI-compatible service, such as http://localhost:11434/v1",
    ),
    "embed.key_variable": (
        "",
        "remote: environment variable that holds the service's key; empty means no key",
    ),
    "embed.dimensions": (
        0,
        "shorten vectors to this many numbers, for models that allow it; 0 keeps them whole",
    ),
    "embed.query_prefix": ("", "put before questions; filled in for models we know"),
    "embed.document_prefix": ("", "put before what is stored; filled in for models we know"),
    "embed.pooling": ("", "onnx and gguf: mean, cls or last; empty means what the model says"),
    "embed.batch": (32, "how many texts go to the model at once"),
    "embed.threads": (0, "onnx and gguf: threads to use; 0 means half as many as there are cores"),
    "embed.gpu_layers": (0, "gguf: layers to keep on the graphics card; -1 means all"),
    "embed.context": (512, "onnx and gguf: most tokens of a text that are read"),
    "embed.timeout_seconds": (30, "remote: how long to wait for an answer"),
    "distill.engine": (
        "none",
        "who writes memories: none (rules alone), llm, or agent (your own, when you ask it to)",
    ),
    "distill.idle_hours": (6, "a session is distilled when nothing happened in it for so long"),
    "distill.traces_kept": (
        10,
        "trace memories of a project that are kept as files, the newest ones",
    ),
    "distill.kinds": (
        ["prompt", "reply", "tool_call", "compaction", "error", "abort"],
        "kinds of events that a model or an agent is given; also known: reasoning",
    ),
    "distill.input_bytes": (1_000_000, "most bytes of a session that a model or an agent is given"),
    "llm.url": (
        "",
        "base address of an OpenAI-compatible chat service, such as http://localhost:11434/v1; "
        "empty means no model",
    ),
    "llm.model": ("", "the model's name, as the service calls it"),
    "llm.key_variable": (
        "",
        "environment variable that holds the service's key; empty means no key",
    ),
    "llm.timeout_seconds": (300, "how long to wait for a whole reply"),
    "llm.reply_tokens": (16_000, "most tokens of one reply"),
    "llm.reply_limit_field": (
        "max_tokens",
        "what the service calls it: max_tokens or max_completion_tokens; empty: not said",
    ),
    "llm.send_schema": (
        False,
        "also send the form of the answer as response_format, to services that know it",
    ),
    "llm.notes": (False, "also ask for notes, in a second request for each session"),
    "llm.max_tokens_per_run": (
        4_000_000,
        "a run stops before it takes more tokens, read and written; 0 means no limit",
    ),
    "llm.max_cost_usd": (
        5.0,
        "a run stops before it costs more, as far as the price is known; 0 means no limit",
    ),
    "llm.input_usd": (
        0.0,
        "dollars for a million tokens read; when not set, what the price table says",
    ),
    "llm.output_usd": (
        0.0,
        "dollars for a million tokens written; when not set, what the price table says",
    ),
    "retain.raw_soft_cap_bytes": (
        0,
        "let go of the oldest events that have a digest, down to so many bytes; 0 means no limit",
    ),
    "retain.raw_hard_cap_bytes": (
        0,
        "the same, and if it must be of events without a digest too; 0 means no limit",
    ),
    "retain.raw_max_age_days": (
        0,
        "let go of events that have a digest after so many days; 0 means never",
    ),
    "retain.distilled_cap_bytes": (
        0,
        "say so when digests, notes and memories take more bytes; 0 means no limit",
    ),
    "episodes.queue": (10_000, "most recorded attempts that wait to be written"),
    "episodes.when_full": (
        "block",
        "when so many wait: block (whoever completes one waits for the store) or drop-oldest",
    ),
    "learn.min_sessions": (3, "a pattern is something that so many sessions show"),
    "learn.half_life_days": (
        90,
        "a pattern that is not seen for so long has half its strength; 0 means that none fades",
    ),
    "watch.debounce_ms": (300, "how long a change may wait for others before it is imported"),
    "domains": (
        {},
        "domain name = list of project patterns (with * and ?), for filters and statistics",
    ),
}


class Settings:
    """What the user wants, resolved once per process; read as attributes' names in KEYS."""

    __slots__ = ("_values", "home", "store")

    def __init__(self, home: str, store: str, values: Mapping[str, object]) -> None:
        object.__setattr__(self, "home", home)
        object.__setattr__(self, "store", store)
        object.__setattr__(self, "_values", values)

    home: str
    store: str
    _values: Mapping[str, object]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("settings are frozen")

    @classmethod
    def load(
        cls, environ: Mapping[str, str] | None = None, *, store: str | None = None
    ) -> Settings:
        """The settings of this environment; `store` overrides every other choice of store."""
        env = os.environ if environ is None else environ
        home = os.path.abspath(env.get("RECOLLECT_HOME") or platforms.data_home(dict(env)))
        values = _flattened(os.path.join(home, "config.toml"), home)
        chosen = store or env.get("RECOLLECT_STORE") or str(values.get("store") or "")
        return cls(
            home, _store_path(chosen) if chosen else os.path.join(home, "recollect.db"), values
        )

    def get(self, key: str) -> object:
        """The value of one key of the table."""
        return self._values.get(key, KEYS[key][0])

    def says(self, key: str) -> bool:
        """Whether the user set a key at all, which an empty value may not show."""
        return key in self._values

    def flag(self, key: str) -> bool:
        """A yes-or-no key."""
        return bool(self.get(key))

    def text(self, key: str) -> str:
        """A text key."""
        return str(self.get(key))

    def number(self, key: str) -> int:
        """A whole-number key."""
        value = self.get(key)
        return value if isinstance(value, int) else 0

    def amount(self, key: str) -> float:
        """A key that may have fractions."""
        value = self.get(key)
        return float(value) if isinstance(value, (int, float)) else 0.0

    def texts(self, key: str) -> list[str]:
        """A list-of-strings key."""
        value = self.get(key)
        return [str(item) for item in value] if isinstance(value, list) else []

    def domains(self) -> dict[str, list[str]]:
        """Domain names with the project patterns that belong to them."""
        value = self.get("domains")
        table = value if isinstance(value, dict) else {}
        return {
            name: [patterns] if isinstance(patterns, str) else list(patterns)
            for name, patterns in table.items()
        }

    def domain_of(self, project: str | None) -> str | None:
        """The first domain one of whose patterns matches a project, in the order of the file."""
        if project is None:
            return None
        from fnmatch import fnmatchcase

        for name, patterns in self.domains().items():
            if any(fnmatchcase(project, pattern) for pattern in patterns):
                return name
        return None


def _store_path(chosen: str) -> str:
    """The absolute path of a store that somebody chose, which cannot be an address or a folder."""
    path = os.path.abspath(os.path.expanduser(chosen))
    if "://" not in chosen and not os.path.isdir(path):
        return path
    # A hook reads settings too, and raises nothing: it starts sooner without the errors.
    from recollect.errors import UsageError

    if "://" in chosen:
        raise UsageError(
            f"a store is a path, not an address: {chosen}",
            hint="name a file; other databases come later",
        )
    raise UsageError(
        f"{path} is a folder",
        hint=f"a store is a file, such as {os.path.join(path, 'recollect.db')}",
    )


def _flattened(path: str, home: str) -> dict[str, object]:
    try:
        stat = os.stat(path)
    except OSError:
        return {}
    stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ino, sys.hexversion)
    cache = os.path.join(home, ".settings")
    try:
        with open(cache, "rb") as file:
            seen, values = marshal.load(file)
        if seen == stamp and isinstance(values, dict):
            return values
    except (OSError, ValueError, EOFError, TypeError):
        values = {}
    values = parse(path)
    try:
        platforms.private_file(cache)
        with open(cache, "wb") as file:
            marshal.dump((stamp, values), file)
    except OSError:
        pass  # A read-only home only means parsing again next time.
    return values


def parse(path: str) -> dict[str, object]:
    """What a config file says, by the keys of the table; anything else is refused by name."""
    import tomllib

    from recollect.errors import SettingsError

    try:
        with open(path, "rb") as file:
            tree = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path}: {error}", hint="mend that line, or see `recollect config --sample`"
        ) from error
    found: dict[str, object] = {}
    for name, value in tree.items():
        if isinstance(value, dict) and name not in KEYS:
            found.update({f"{name}.{inner}": item for inner, item in value.items()})
        else:
            found[name] = value
    for key, value in found.items():
        _check(path, key, value)
    return found


def _check(path: str, key: str, value: object) -> None:
    from recollect.errors import SettingsError

    if key not in KEYS:
        raise SettingsError(
            f"{path}: no setting is called {key}", hint="`recollect config --sample` lists them all"
        )
    wanted = type(KEYS[key][0])
    if type(value) is not wanted and (type(value), wanted) != (int, float):
        names = {
            str: "text",
            bool: "true or false",
            int: "a whole number",
            float: "a number",
            list: "a list",
            dict: "a table",
        }
        raise SettingsError(
            f"{path}: {key} must be {names[wanted]}", hint="see `recollect config --sample`"
        )
    # Turned round, because nothing is less or more than a number that is none.
    if isinstance(value, (int, float)) and not value >= 0:
        raise SettingsError(
            f"{path}: {key} is {value}",
            hint="a number here is 0 or more; see `recollect config --sample`",
        )


def sample() -> str:
    """A config.toml with every key, its default and what it does."""
    lines = ["# recollect settings. Every key is optional; the values below are the defaults.", ""]
    section = ""
    for key, (default, meaning) in KEYS.items():
        table, _, name = key.rpartition(".")
        if isinstance(default, dict):
            lines += [f"[{key}]", f"# {meaning}", '# work = ["github.com/acme/*"]', ""]
            continue
        if table != section:
            lines += [f"[{table}]"]
            section = table
        lines += [f"# {meaning}", f"# {name} = {_toml(default)}", ""]
    return "\n".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)
