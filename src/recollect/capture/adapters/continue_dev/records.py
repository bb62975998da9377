"""The fields of Continue's sessions that we read, typed so that no
version's surprise costs a session.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct


class ContinueSession(Struct):
    """A session's document. Its entries are decoded one by one: one that is odd costs itself."""

    title: Any = None
    workspaceDirectory: Any = None
    history: Raw = Raw(b"[]")
    mode: Any = None
    chatModelTitle: Any = None
    usage: Any = None


class ContinueMessage(Struct):
    """A message with what belongs to it.

    `promptLogs` repeat the whole conversation for each answer; they are
    looked into only for the name of a model.
    """

    message: Any = None
    contextItems: Any = None
    toolCallStates: Any = None
    # Before several calls could be made at once.
    toolCallState: Any = None
    reasoning: Any = None
    conversationSummary: Any = None
    promptLogs: Raw = Raw(b"null")


class ContinueOptions(Struct):
    """What a model was asked with."""

    model: Any = None


class ContinuePromptLog(Struct):
    """One call of a model, without its prompt and its answer."""

    modelTitle: Any = None
    completionOptions: Raw = Raw(b"{}")


class ContinueIndexEntry(Struct):
    """What the list of sessions says about one of them."""

    sessionId: Any = None
    # In the oldest lists.
    session_id: Any = None
    title: Any = None
    dateCreated: Any = None
    workspaceDirectory: Any = None
