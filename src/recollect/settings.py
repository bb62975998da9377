"""The one frozen Settings: defaults, then config.toml, then the environment.

Every key can be set for one process by the variable that `variable_of` names.

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
    "store": ("", "the store, an SQLite file; empty: recollect.db in this folder"),
    "sources.extra": (
        [],
        "more folders to import from: an agent's folder, a home, or a folder of logs",
    ),
    "sources.excluded": ([], "paths that are never imported, with * and ?"),
    "sources.agents": ([], "import only these agents; empty: all of them"),
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
        "remote: address of an OpenAI-compatible service, such as http://localhost:11434/v1",
    ),
    "embed.key_variable": (
        "",
        "remote: environment variable with the key of the service; empty: no key",
    ),
    "embed.dimensions": (
        0,
        "shorten vectors to so many numbers, if the model allows it; 0: no",
    ),
    "embed.query_prefix": ("", "text before each question; known for common models"),
    "embed.document_prefix": ("", "text before each stored piece; known for common models"),
    "embed.pooling": ("", "onnx and gguf: mean, cls or last; empty: what the model says"),
    "embed.batch": (32, "texts that go to the model at once"),
    "embed.threads": (0, "onnx and gguf: threads; 0: half as many as cores"),
    "embed.gpu_layers": (0, "gguf: layers on the graphics card; -1: all"),
    "embed.context": (512, "onnx and gguf: most tokens read of a text"),
    "embed.timeout_seconds": (30, "remote: seconds to wait for an answer"),
    "distill.engine": (
        "none",
        "who writes memories besides the rules: none, llm (a service), or an agent of yours that "
        "runs by itself",
    ),
    "distill.model": ("", "the model that your agent is asked to use; empty: a cheap one"),
    "distill.send": (
        [],
        "agents of other makers whose sessions that agent may read too",
    ),
    "distill.idle_hours": (6, "write about a project after so many quiet hours"),
    "distill.runs_per_day": (5, "most runs of an engine in 24 hours"),
    "distill.tokens_per_day": (100_000, "most tokens of these runs, read and written; 0: no limit"),
    "distill.usd_per_day": (
        1.0,
        "most dollars of these runs, where they are known; 0: no limit",
    ),
    "distill.timeout_seconds": (600, "seconds to wait for the agent's answer"),
    "distill.second_look": (
        False,
        "show each line to the engine once more beside its turns, in a second request",
    ),
    "distill.max_items": (
        300,
        "most prompts in one record for an engine; a project with more is read in steps",
    ),
    "llm.url": (
        "",
        "address of an OpenAI-compatible chat service, such as http://localhost:11434/v1; "
        "empty: none",
    ),
    "llm.model": ("", "the model's name, as the service calls it"),
    "llm.key_variable": (
        "",
        "environment variable with the key of the service; empty: no key",
    ),
    "llm.timeout_seconds": (300, "seconds to wait for a whole reply"),
    "llm.reply_tokens": (16_000, "most tokens of one reply"),
    "llm.reply_limit_field": (
        "max_tokens",
        "name of that limit: max_tokens or max_completion_tokens; empty: not sent",
    ),
    "llm.reasoning_effort": ("", "how long a model thinks: low, medium, high; empty: not sent"),
    "llm.max_tokens_per_run": (
        4_000_000,
        "most tokens of a run, read and written; 0: no limit",
    ),
    "llm.max_cost_usd": (
        5.0,
        "most dollars of a run, where the price is known; 0: no limit",
    ),
    "llm.input_usd": (
        0.0,
        "dollars for a million tokens read; not set: from the price table",
    ),
    "llm.output_usd": (
        0.0,
        "dollars for a million tokens written; not set: from the price table",
    ),
    "recall.pack_tokens": (600, "most tokens that an agent is told when it starts"),
    "jobs.quiet_seconds": (
        60,
        "after the last turn, seconds until hooks have done what follows from it; ten minutes at "
        "most",
    ),
    "retain.raw_soft_cap_bytes": (
        0,
        "remove the oldest events with a digest, down to so many bytes; 0: no limit",
    ),
    "retain.raw_hard_cap_bytes": (
        0,
        "the same, if necessary also events without a digest; 0: no limit",
    ),
    "retain.raw_max_age_days": (
        0,
        "remove events with a digest after so many days; 0: never",
    ),
    "retain.distilled_cap_bytes": (
        0,
        "warn when digests, notes and memories take more bytes; 0: no limit",
    ),
    "episodes.queue": (10_000, "most recorded attempts waiting to be written"),
    "episodes.when_full": (
        "block",
        "when so many wait: block (the caller waits for the store) or drop-oldest",
    ),
    "cost.month_usd": (
        0.0,
        "dollars a month that you mean to spend; Usage on the page draws the line; 0: none",
    ),
    "team.cache_mb": (50, "most megabytes kept of what a team shares, besides its notes"),
    "timer.every_hours": (
        24,
        "hours between two runs of the timer: 1, 2, 3, 4, 6, 8, 12 or 24; install it again after",
    ),
    "watch.debounce_ms": (
        300,
        "milliseconds that a change may wait for others before it is imported",
    ),
    "domains": (
        {},
        "domain name = list of projects (with * and ?), for filters and statistics",
    ),
}


# Keys that may be less than 0, which then means: all.
_SIGNED = ("embed.gpu_layers",)
_NAMES = {
    str: "text", bool: "true or false", int: "a whole number", float: "a number",
    list: "a list", dict: "a table",
}  # fmt: skip
_YES_OR_NO = {"true": True, "1": True, "yes": True, "on": True,
              "false": False, "0": False, "no": False, "off": False}  # fmt: skip


class Settings:
    """What the user wants, resolved once per process; read as attributes' names in KEYS.

    `named_config` is the file that was chosen instead of the usual config.toml, if one was.
    """

    __slots__ = ("_changed", "_values", "home", "named_config", "store")

    def __init__(
        self,
        home: str,
        store: str,
        values: Mapping[str, object],
        *,
        named_config: str | None = None,
        changed: Mapping[str, object] | None = None,
    ) -> None:
        object.__setattr__(self, "home", home)
        object.__setattr__(self, "store", store)
        object.__setattr__(self, "named_config", named_config)
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_changed", changed or {})

    home: str
    store: str
    named_config: str | None

    def elsewhere(self, *, home: str, store: str) -> Settings:
        """The same settings for another home and another store."""
        return Settings(
            home, store, self._values, named_config=self.named_config, changed=self._changed
        )

    _values: Mapping[str, object]
    _changed: Mapping[str, object]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("settings are frozen")

    @classmethod
    def load(
        cls,
        environ: Mapping[str, str] | None = None,
        *,
        store: str | None = None,
        config: str | None = None,
        changed: Mapping[str, object] | None = None,
    ) -> Settings:
        """The settings of this environment.

        `store` overrides every other choice of store, `config` is read instead of the usual
        config.toml, and `changed` holds keys that are as somebody says now, whatever else says.
        """
        env = os.environ if environ is None else environ
        home = os.path.abspath(env.get("RECOLLECT_HOME") or platforms.data_home(dict(env)))
        named = config or env.get("RECOLLECT_CONFIG") or None
        if named is None:
            values = _flattened(os.path.join(home, "config.toml"), home)
        else:
            named = os.path.abspath(os.path.expanduser(named))
            values = parse(named)
        # The cache hands out a new dictionary each time, so it may be changed.
        values.update(_from_environment(env))
        for key, value in (changed or {}).items():
            _check(key, key, value)
            values[key] = value
        chosen = store or str(values.get("store") or "")
        path = _store_path(chosen) if chosen else os.path.join(home, "recollect.db")
        return cls(home, path, values, named_config=named, changed=changed)

    @property
    def config(self) -> str:
        """The file that settings are read from, which need not exist unless it was named."""
        return self.named_config or os.path.join(self.home, "config.toml")

    def arguments(self) -> list[str]:
        """The options with which another process has the same store and the same file."""
        config = ["--config", self.named_config] if self.named_config else []
        return ["--store", self.store, *config]

    def variables(self) -> dict[str, str]:
        """The environment in which another process has the same changes for one run."""
        return {
            variable_of(key): value if isinstance(value, str) else as_toml(value)
            for key, value in self._changed.items()
        }

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
            f"The store is a file, not an address: {chosen}.",
            hint="Name a file. Other databases come later.",
        )
    raise UsageError(
        f"{path} is a folder.",
        hint=f"Name a file, such as {os.path.join(path, 'recollect.db')}.",
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


def variable_of(key: str) -> str:
    """The environment variable that sets a key."""
    return "RECOLLECT_" + key.replace(".", "_").upper()


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """The keys that variables set; an empty variable sets none."""
    ours = [name for name in environ if name.startswith("RECOLLECT_") and environ[name]]
    if not ours:
        return {}
    keys = {variable_of(key): key for key in KEYS}
    return {
        keys[name]: _read_variable(name, keys[name], environ[name]) for name in ours if name in keys
    }


def _read_variable(name: str, key: str, text: str) -> object:
    """The value of a variable: as it would stand in config.toml, but plain text needs no
    quotes, and a list of texts only commas.
    """
    wanted = type(KEYS[key][0])
    if wanted is str:
        return text
    if wanted is bool:
        value: object = _YES_OR_NO.get(text.strip().lower(), text)
    elif wanted is list and not text.lstrip().startswith("["):
        value = [item.strip() for item in text.split(",") if item.strip()]
    else:
        value = _toml_value(text)
    _check(name, key, value)
    return value


def _toml_value(text: str) -> object:
    import tomllib

    try:
        table = tomllib.loads(f"value = {text.strip()}")
    except tomllib.TOMLDecodeError:
        return text
    # A line break must not smuggle in a second key.
    return table["value"] if len(table) == 1 else text


def parse(path: str) -> dict[str, object]:
    """What a config file says, by the keys of the table; anything else is refused by name."""
    import tomllib

    from recollect.errors import SettingsError

    try:
        with open(path, "rb") as file:
            tree = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path}: {error}", hint="Correct that line. Every key: recollect config --sample"
        ) from error
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror}.", hint="Name a config file that is there."
        ) from error
    found: dict[str, object] = {}
    for name, value in tree.items():
        if isinstance(value, dict) and name not in KEYS:
            found.update({f"{name}.{inner}": item for inner, item in value.items()})
        else:
            found[name] = value
    for key, value in found.items():
        _check(f"{path}: {key}", key, value)
    return found


def _check(subject: str, key: str, value: object) -> None:
    """Refuse a key that is not in the table, and a value that its key cannot have.

    `subject` is what they are called where they were said.
    """
    wanted = type(KEYS[key][0]) if key in KEYS else None
    if wanted is None:
        problem = f'{subject.removesuffix(key)}There is no setting "{key}".'
        hint = "Every setting: recollect config --sample"
    elif type(value) is not wanted and (type(value), wanted) != (int, float):
        problem = f"{subject} must be {_NAMES[wanted]}."
        hint = "See: recollect config --sample"
    # Turned round, because nothing is less or more than a number that is none.
    elif isinstance(value, (int, float)) and not value >= (-1 if key in _SIGNED else 0):
        problem = f"{subject} is {value}"
        hint = "It must be 0 or more. See: recollect config --sample"
    else:
        return
    # A hook reads settings too: it starts sooner without the errors.
    from recollect.errors import SettingsError

    raise SettingsError(problem, hint=hint)


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
        lines += [f"# {meaning}", f"# {name} = {as_toml(default)}", ""]
    return "\n".join(lines)


def as_toml(value: object) -> str:
    """A value as it may stand in config.toml."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, dict):
        inner = (f"{as_toml(key)} = {as_toml(one)}" for key, one in value.items())
        return f"{{{', '.join(inner)}}}"
    if not isinstance(value, str):
        return str(value)
    # A Windows path stays readable between single quotes, where nothing is escaped.
    if "\\" in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    characters = [c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped]
    return f'"{"".join(characters)}"'
