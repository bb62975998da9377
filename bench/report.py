"""Results as a file, as lines, as a table in the docs, and against earlier ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench import page
from bench.measure import Figure

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


@dataclass
class Results:
    """All that one run of the benchmarks came to; dates are UTC."""

    suite: str
    date: str
    machine: Mapping[str, Any]
    corpora: Mapping[str, Mapping[str, Any]]
    figures: list[Figure]

    def circumstances(self) -> str:
        """When, where and with how much, in a sentence or two."""
        logs = [
            f"{one['files']:,} files, {_turns(one)}{one['bytes'] / 1e6:.1f} MB"
            for one in self.corpora.values()
        ]
        where = f"{self.machine['cpus']} CPUs ({self.machine['cpu']}), {self.machine['system']}"
        software = f"{self.machine['python']}, SQLite {self.machine['sqlite']}"
        return (
            f"recollect {self.machine['recollect']}, measured on {self.date} UTC on {where}, "
            f"{software},"
            f" load {self.machine['load']} at the end. Logs: {'; '.join(logs)}."
        )


def write(folder: Path, results: Results) -> Path:
    """Keep the results as JSON, named after suite and date, and the page that shows them."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = results.date.replace(" ", "-").replace(":", "")
    path = folder / f"{results.suite}-{stamp}.json"
    figures = [figure.as_dict() for figure in results.figures]
    whole = {
        "suite": results.suite,
        "date": results.date,
        "machine": results.machine,
        "corpora": results.corpora,
        "figures": figures,
    }
    path.write_text(json.dumps(whole, indent=1) + "\n")
    (folder / "report.html").write_text(
        page.render(results.suite, results.circumstances(), results.figures)
    )
    return path


def read(path: Path) -> Results:
    """Results that were kept earlier."""
    try:
        values = json.loads(path.read_text())
        values["figures"] = [Figure.from_dict(figure) for figure in values["figures"]]
        return Results(**values)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"bench: {path} holds no results: {error}") from error


def as_text(results: Results) -> str:
    """A line for each figure."""
    width = max(len(figure.title) for figure in results.figures)
    lines = [
        f"{figure.title:{width}}  {_result(figure):>10}  {page.target(figure):>10}  "
        f"{page.verdict(figure)}"
        for figure in results.figures
    ]
    return "\n".join([results.circumstances(), "", *lines])


class Change(NamedTuple):
    """A figure that was measured before and is measured now."""

    before: Figure
    now: Figure

    @property
    def worse(self) -> bool:
        return self.now.worse_than(self.before)

    def __str__(self) -> str:
        return f"{self.now.title}: {_result(self.now)}, was {_result(self.before)}"


def changes(results: Results, old: Results) -> list[Change]:
    """The figures that both have; those that got worse come first."""
    before = {figure.name: figure for figure in old.figures}
    both = [Change(before[now.name], now) for now in results.figures if now.name in before]
    return sorted(both, key=lambda change: not change.worse)


def as_markdown(results: Results, old: Results) -> str:
    """What changed, as a table for the page of a pull request."""
    rows = [
        f"| {change.now.title} | {_result(change.before)} | {_result(change.now)} "
        f"| {_percent(change)} | {'**worse**' if change.worse else ''} |"
        for change in changes(results, old)
    ]
    head = ["| figure | before | now | change | |", "|---|---:|---:|---:|---|"]
    return "\n".join([*head, *rows, "", f"Now: {results.circumstances()}", ""])


def _result(figure: Figure) -> str:
    return page.shown(figure, figure.ratio)


def _percent(change: Change) -> str:
    """Bare speeds say more about the machine than about the code."""
    if not change.now.travels() or not change.before.ratio:
        return ""
    return f"{change.now.ratio / change.before.ratio - 1:+.0%}"


def write_docs(path: Path, results: Results) -> None:
    """Replace what stands between the two markers of a page."""
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"bench: {path} lacks the lines {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n{_table(results)}\n{END}{after}")


def _table(results: Results) -> str:
    rows = [
        f"| {figure.title} | {figure.against or '–'} | {page.amount(figure.ours, figure.unit)} | "
        f"{_reference(figure)} "
        f"| {_result(figure)} | {page.target(figure)} | {_emphasised(figure)} | "
        f"{len(figure.runs)} |"
        for figure in results.figures
    ]
    head = [
        "| figure | against | ours | theirs | result | target | | runs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([results.circumstances(), "", *head, *rows])


def _reference(figure: Figure) -> str:
    return "–" if figure.reference is None else page.amount(figure.reference, figure.unit)


def _emphasised(figure: Figure) -> str:
    return f"**{page.verdict(figure)}**" if figure.reached is False else page.verdict(figure)


def _turns(corpus: Mapping[str, Any]) -> str:
    return f"{corpus['turns']:,} turns, " if "turns" in corpus else ""
