"""The lines of a Copilot CLI log, and which of them are known to be of no use to us."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from recollect.capture.logs.values import text_of

# An id is remembered in the checkpoint, which has to stay small.
_LONGEST_ID_BYTES = 200


class CopilotEvent(msgspec.Struct, gc=False):
    """One event; a type says what is in its data."""

    type: Any = None
    data: Any = None
    id: Any = None
    timestamp: Any = None
    agentId: Any = None


LINES: msgspec.json.Decoder[CopilotEvent] = msgspec.json.Decoder(CopilotEvent)

# Known, and passed over: said elsewhere, meant for the screen, or the
# bookkeeping of a running program.
PASSED_OVER = frozenset({
    "assistant.idle", "assistant.intent", "assistant.message_delta", "assistant.message_start",
    "assistant.reasoning_delta", "assistant.server_tool_progress", "assistant.streaming_delta",
    "assistant.tool_call_delta", "assistant.turn_end", "assistant.turn_start", "assistant.usage",
    "auto_mode_switch.completed", "auto_mode_switch.requested", "capabilities.changed",
    "command.completed", "command.execute", "command.queued", "commands.changed",
    "elicitation.completed", "elicitation.requested", "exit_plan_mode.completed",
    "exit_plan_mode.requested", "external_tool.completed", "external_tool.requested",
    "factory.run_settled", "factory.run_started", "factory.run_updated", "hook.end",
    "hook.progress", "hook.start", "mcp.headers_refresh_completed", "mcp.headers_refresh_required",
    "mcp.oauth_completed", "mcp.oauth_required", "mcp.prompts.list_changed",
    "mcp.resources.list_changed", "mcp.tools.list_changed", "mcp_app.tool_call_complete",
    "model.call_failure", "pending_messages.modified", "permission.completed",
    "permission.requested", "sampling.completed", "sampling.requested",
    "session.autopilot_objective_changed", "session.background_tasks_changed",
    "session.binary_asset", "session.canvas.closed", "session.canvas.opened",
    "session.canvas.recorded", "session.canvas.registry_changed", "session.canvas.removed",
    "session.canvas.unavailable", "session.compaction_start", "session.context_cleared",
    "session.custom_agents_updated", "session.custom_notification",
    "session.extensions.attachments_pushed", "session.extensions_loaded", "session.idle",
    "session.managed_settings_enforced", "session.managed_settings_resolved",
    "session.mcp_server_status_changed", "session.mcp_servers_loaded", "session.plan_changed",
    "session.remote_steerable_changed", "session.schedule_cancelled", "session.schedule_created",
    "session.schedule_rearmed", "session.session_limits_changed", "session.skills_loaded",
    "session.task_complete", "session.todos_changed", "session.tools_updated",
    "session.truncation", "session.usage_info", "session.warning",
    "session.workspace_file_changed", "session_limits_exhausted.completed",
    "session_limits_exhausted.requested", "skill.invoked", "subagent.deselected",
    "subagent.selected", "system.message", "system.notification", "tool.execution_partial_result",
    "tool.execution_progress", "tool_search.activated", "ui.ephemeral_query",
    "user_input.completed", "user_input.requested",
})  # fmt: skip


def id_of(value: object) -> str | None:
    """An id as it is, or its hash when it is too long to be remembered."""
    text = text_of(value)
    if text is None:
        return None
    data = text.encode("utf-8", "replace")
    return text if len(data) <= _LONGEST_ID_BYTES else sha256(data).hexdigest()
