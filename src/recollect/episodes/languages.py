"""Which language a piece of work was in, by the endings of the files it touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_ENDINGS = {
    "python": "py pyi ipynb", "javascript": "js jsx mjs cjs", "typescript": "ts tsx mts cts",
    "rust": "rs", "go": "go",
    "java": "java", "kotlin": "kt kts", "scala": "scala sbt", "c": "c h",
    "c++": "cpp cc cxx hpp hh", "c#": "cs", "f#": "fs fsx",
    "ruby": "rb rake erb", "php": "php", "swift": "swift", "objective-c": "m mm", "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl", "haskell": "hs", "ocaml": "ml mli", "clojure": "clj cljs cljc",
    "lua": "lua", "perl": "pl pm", "r": "r",
    "julia": "jl", "zig": "zig", "shell": "sh bash zsh fish", "powershell": "ps1 psm1",
    "sql": "sql", "terraform": "tf hcl",
    "html": "html htm", "css": "css scss sass less", "vue": "vue", "svelte": "svelte", "nix": "nix",
    "solidity": "sol",
}  # fmt: skip
_LANGUAGES = {
    ending: language for language, endings in _ENDINGS.items() for ending in endings.split()
}


def language_of(paths: Iterable[str]) -> str | None:
    """The language that most of these files are in, of equals the first.

    None when no ending is known.
    """
    found = Counter(
        language for path in paths if (language := _LANGUAGES.get(path.rpartition(".")[2].lower()))
    )
    return found.most_common(1)[0][0] if found else None
