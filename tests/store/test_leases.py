"""One worker at a time, whatever becomes of the one before."""

from __future__ import annotations

import pytest

from recollect.model.leases import Lease, LeaseLost
from recollect.store.sqlite import leases
from recollect.system import clock
from tests.store.conftest import Filled


def checked(filled: Filled, lease: Lease) -> bool:
    try:
        with filled.db.transaction():
            filled.store.leases.check(lease)
    except LeaseLost:
        return False
    return True


def test_a_lease_is_held_by_one(filled: Filled) -> None:
    """Two who write the same memory would each undo half of what the other did."""
    first = filled.store.leases.take("work")

    assert first is not None
    assert filled.store.leases.take("work") is None
    assert filled.store.leases.take("other work") is not None
    assert checked(filled, first)


def test_a_lease_that_ran_out_goes_to_the_next_and_the_first_cannot_write(filled: Filled) -> None:
    """A laptop that sleeps wakes up in the middle of its work, an hour later."""
    first = filled.store.leases.take("work", seconds=0)
    assert first is not None

    second = filled.store.leases.take("work")

    assert second is not None
    assert second.token > first.token
    assert not checked(filled, first)
    assert not filled.store.leases.renew(first)
    assert not filled.store.leases.release(first)
    assert checked(filled, second)


def test_a_released_lease_gives_the_next_owner_a_higher_token(filled: Filled) -> None:
    """A token that came twice would let somebody write who should not."""
    first = filled.store.leases.take("work")
    assert first is not None

    assert filled.store.leases.release(first)
    second = filled.store.leases.take("work")

    assert second is not None
    assert second.token == first.token + 1
    assert not filled.store.leases.release(first)
    assert filled.store.leases.take("work") is None


def test_renewing_keeps_a_lease_from_running_out(filled: Filled) -> None:
    """A model may take longer than anybody thought."""
    lease = filled.store.leases.take("work", seconds=0)
    assert lease is not None

    assert filled.store.leases.renew(lease)
    assert filled.store.leases.take("work") is None


@pytest.mark.parametrize("hours", [-26, 26])
def test_a_clock_that_is_set_wrong_blocks_nobody_for_long(
    filled: Filled, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody corrects the date.

    The lease of before must not last until then, nor let the old holder write.
    """
    first = filled.store.leases.take("work")
    assert first is not None
    now = clock.now_ms()
    monkeypatch.setattr(leases, "now_ms", lambda: now + hours * 3_600_000)

    second = filled.store.leases.take("work")

    assert second is not None
    assert not checked(filled, first)
    assert filled.store.leases.take("work") is None
