"""What a process has used so far.

Apart from measure.py because a measuring child looks at these before it
imports what it measures: nothing is loaded here that could make that cheaper.
"""

import resource
import sys
import time

# Linux counts kilobytes here, macOS bytes.
_MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024


def cpu_seconds() -> float:
    """CPU time of this process and of the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_bytes() -> int:
    """The most memory this process has held, with that of its largest child."""
    own = _high_water() or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_BYTES
    return own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _MAXRSS_BYTES


def _high_water() -> int:
    # On Linux ru_maxrss begins with what the parent held when it forked;
    # the kernel's own mark for this program does not.
    try:
        with open("/proc/self/status", "rb") as status:
            marks = [line for line in status if line.startswith(b"VmHWM:")]
    except OSError:
        return 0
    return int(marks[0].split()[1]) * 1024 if marks else 0


def written_bytes() -> int:
    """What this process has handed to the system to write so far.

    0 where the system does not count that.
    """
    try:
        with open("/proc/self/io", "rb") as counts:
            found = [line for line in counts if line.startswith(b"wchar:")]
    except OSError:
        return 0
    return int(found[0].split()[1]) if found else 0
