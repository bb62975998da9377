"""Our tokens and costs are put beside those of other programs, with nothing left out."""

from __future__ import annotations

from pathlib import Path

from bench import totals
from tests.builders.claude_code import Conversation, tokens
from tests.builders.homes import claude_log, small_talk


def test_what_sub_agents_cost_is_among_our_sums(tmp_path: Path) -> None:
    """Lists show sub-agents only when asked; the other programs count them always."""
    talk = small_talk(1)
    log = claude_log(tmp_path, talk)
    alone = totals.ours(tmp_path)
    helper = Conversation(talk.session, prefix="h", agent="a1")
    helper.user("look at the tests")
    helper.reply("they pass", usage=tokens(7, output=11))
    helper.write(log.with_suffix("") / "subagents" / "agent-a1.jsonl")

    counted = totals.ours(tmp_path)

    assert counted.tokens["input"] - alone.tokens["input"] == 7
    assert counted.tokens["output"] - alone.tokens["output"] == 11
    assert "a1" in counted.by_session
