"""How a figure is measured: both sides in one run, in turn, and the median.

A machine that others use too gets faster and slower by the minute, and a
laptop by its temperature. So nothing is compared with yesterday's seconds: our
side and what we compare it with are measured one after the other, the order
changing each time, and every such pair gives one ratio. The figure is the
median of those ratios. CPU time is what counts unless a figure says wall.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from bench.clocks import cpu_seconds
from bench.corpora import ROOT

Clock = Callable[[], float]
Pair = tuple[float, float]
wall_seconds: Clock = time.perf_counter


@dataclass(kw_only=True)
class Figure:
    """One number we claim, with all it was made of.

    `ratio` is what the target is about: ours against the reference where
    there is one, else ours itself. `runs` holds every sample, as (ours,
    reference) or as (ours,).
    """

    name: str
    title: str
    against: str
    ratio: float
    target: float | None
    better: Literal["lower", "higher"] = "lower"
    ours: float
    reference: float | None
    unit: str
    runs: list[list[float]]
    command: str = ""
    reached: bool | None = field(init=False)

    def __post_init__(self) -> None:
        if self.target is None:
            self.reached = None
        else:
            self.reached = (
                self.ratio <= self.target if self.better == "lower" else self.ratio >= self.target
            )

    def as_dict(self) -> dict[str, Any]:
        """The figure as it stands in a results file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Figure:
        """A figure out of a results file."""
        return cls(**{name: value for name, value in values.items() if name != "reached"})

    def samples(self) -> list[float]:
        """The ratio of each run."""
        return [run[0] / run[1] if len(run) == 2 else run[0] for run in self.runs]

    def travels(self) -> bool:
        """Whether the number means the same on another machine or on a busy day.

        A bare speed does not.
        """
        return self.reference is not None or not self.unit.endswith(("CPU", "wall"))

    def worse_than(self, old: Figure, tolerance: float = 0.10) -> bool:
        """Whether this is a setback beyond the noise we allow for."""
        if not self.travels():
            return False
        if self.better == "lower":
            return self.ratio > old.ratio * (1 + tolerance)
        return self.ratio < old.ratio * (1 - tolerance)


def compared(
    name: str, title: str, against: str, pairs: Sequence[Pair], *, target: float | None, unit: str
) -> Figure:
    """A figure from runs of both sides."""
    return Figure(
        name=name,
        title=title,
        against=against,
        ratio=statistics.median(ours / reference for ours, reference in pairs),
        target=target,
        ours=statistics.median(ours for ours, _ in pairs),
        reference=statistics.median(reference for _, reference in pairs),
        unit=unit,
        runs=[list(pair) for pair in pairs],
    )


def absolute(
    name: str,
    title: str,
    samples: Sequence[float],
    *,
    target: float | None,
    unit: str,
    better: Literal["lower", "higher"] = "lower",
    of: Callable[[Sequence[float]], float] = statistics.median,
) -> Figure:
    """A figure that stands alone: a share, a speed, an amount of memory.

    The median `of` its samples, or the worst.
    """
    middle = of(samples)
    return Figure(
        name=name,
        title=title,
        against="",
        ratio=middle,
        target=target,
        better=better,
        ours=middle,
        reference=None,
        unit=unit,
        runs=[[sample] for sample in samples],
    )


def alternate(ours: Callable[[], float], reference: Callable[[], float], runs: int) -> list[Pair]:
    """Samples of both sides in turn; who goes first changes each time."""
    pairs = []
    for run in range(runs):
        if run % 2:
            second = reference()
            pairs.append((ours(), second))
        else:
            first = ours()
            pairs.append((first, reference()))
    return pairs


def spent(work: Callable[[], object], *, clock: Clock = cpu_seconds, repeats: int = 1) -> float:
    """What one call costs by a clock, over so many calls that the clock can tell."""
    gc.collect()
    start = clock()
    for _ in range(repeats):
        work()
    return (clock() - start) / repeats


def wall_of_process(
    command: list[str], environ: Mapping[str, str], *, stdin: str = os.devnull
) -> float:
    """Seconds from starting a program to its end.

    It reads a file, and what it prints is thrown away.
    """
    streams = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    streams.append((os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0))
    start = wall_seconds()
    process = os.posix_spawn(command[0], command, environ, file_actions=streams)
    _, status = os.waitpid(process, 0)
    seconds = wall_seconds() - start
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return seconds


def machine() -> dict[str, object]:
    """What a reader must know to compare with another machine or another state of the code."""
    import apsw

    return {
        "recollect": _code(),
        "cpus": os.cpu_count(),
        "cpu": _cpu_model(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "sqlite": apsw.sqlite_lib_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def _code() -> str:
    """The version that was measured, with the commit where there is one."""
    from recollect import __version__

    try:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
        ).stdout.strip()
        changed = subprocess.run(
            ["git", "diff", "--quiet", "HEAD", "--", "src"], cwd=ROOT, capture_output=True
        ).returncode
    except OSError:
        return __version__
    return (
        f"{__version__} ({commit}{' with changes' if changed else ''})" if commit else __version__
    )


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(
                (
                    line.partition(": ")[2].strip()
                    for line in lines
                    if line.startswith("model name")
                ),
                "",
            )
    except OSError:
        return platform.processor() or sys.platform
