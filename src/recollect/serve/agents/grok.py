"""Grok: its sessions can be resumed. As its documentation has it; not run here."""

from __future__ import annotations

from recollect.serve.agents import Agent, Resume

AGENT = Agent(resume=Resume(("grok", "--resume"), ".grok", "GROK_HOME"))
