"""recollect config: show the settings, or a sample with every key.

recollect config                the settings in use, and where config.toml is
recollect config --sample       a config.toml with every key and its meaning
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.output import Output
from recollect.settings import KEYS, as_toml, sample


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--sample",
        action="store_true",
        help="print a config.toml with every key, its default and its meaning",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.sample:
        return Output([{"sample": sample()}], lambda row: row["sample"])
    settings = memory.settings
    rows = [
        {"key": "home", "value": settings.home},
        {"key": "config", "value": settings.config},
        {"key": "store", "value": settings.store},
        *({"key": key, "value": settings.get(key)} for key in KEYS if key != "store"),
    ]
    # As it may stand in config.toml, so that a line can be copied there.
    return Output(rows, lambda row: f"{row['key']} = {as_toml(row['value'])}")
