"""The views, one module each: what a page shows is asked of the memory in one place."""

from __future__ import annotations

from recollect.serve.web.app import Form, View
from recollect.serve.web.views import (
    file,
    home,
    memory,
    publishing,
    review,
    search,
    session,
    sessions,
    store,
    team,
    told,
    trouble,
    usage,
)

VIEWS: tuple[View, ...] = (
    home.VIEW,
    home.KEPT,
    home.YEAR,
    search.VIEW,
    search.PREVIEW,
    sessions.VIEW,
    sessions.PALETTE,
    session.VIEW,
    session.TURNS,
    session.FIND,
    session.HANDOFF,
    memory.VIEW,
    memory.NOTE,
    review.VIEW,
    told.VIEW,
    file.VIEW,
    usage.VIEW,
    trouble.VIEW,
    trouble.FIX,
    store.VIEW,
    store.HEALTH,
    store.TASK,
    team.VIEW,
    team.MEMBERS,
    team.SEARCH,
)
FORMS: tuple[Form, ...] = (
    *memory.FORMS,
    *publishing.FORMS,
    *told.FORMS,
    *store.FORMS,
    *search.FORMS,
    *team.FORMS,
)
