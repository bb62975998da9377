"""What the conformance suite asks of a server besides being one: tools,
resources and prompts of certain names.

They are added to our own server, so that everything between them and the wire
is what is used in earnest. `python -m tests.serve.mcp.conformance_server STORE`
says on which port it serves; the suite cannot send a token, so it is sent for it.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Audio, Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import EmbeddedResource, ImageContent, TextContent, TextResourceContents
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.memory import Memory
from recollect.serve.mcp import http
from recollect.serve.mcp.run import running_server
from recollect.serve.mcp.server import Server

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmM"
    "IQAAAABJRU5ErkJggg=="
)
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


def add_everything(server: Server) -> None:
    """Tools, resources and prompts as the suite describes them."""
    _add_tools(server)
    _add_schema(server)

    @server.resource("test://static-text", mime_type="text/plain")
    def test_static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def test_static_binary() -> bytes:
        return b64decode(PIXEL)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def test_template(id: str) -> str:
        return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'

    _add_prompts(server)


def _add_tools(server: Server) -> None:
    @server.tool(structured_output=False)
    def test_simple_text() -> str:
        return "This is a simple text response for testing."

    @server.tool()
    def test_image_content() -> Image:
        return Image(data=b64decode(PIXEL), format="png")

    @server.tool()
    def test_audio_content() -> Audio:
        return Audio(data=b64decode(SILENCE), format="wav")

    @server.tool()
    def test_embedded_resource() -> EmbeddedResource:
        return _embedded(
            "test://embedded-resource", "text/plain", "This is an embedded resource content."
        )

    @server.tool()
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        return [
            TextContent(type="text", text="Multiple content types test:"),
            ImageContent(type="image", data=PIXEL, mime_type="image/png"),
            _embedded(
                "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
            ),
        ]

    @server.tool(structured_output=False)
    def test_error_handling() -> str:
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool(structured_output=False)
    async def test_tool_with_progress(context: Context[Any, Any]) -> str:
        for progress in (0, 50, 100):
            await context.report_progress(progress, 100)
            await anyio.sleep(0.05)
        return "done"


def _add_schema(server: Server) -> None:
    @server.tool(structured_output=False)
    def json_schema_2020_12_tool(name: str = "", address: dict[str, str] | None = None) -> str:
        return name

    made = server._tool_manager.get_tool("json_schema_2020_12_tool")
    assert made is not None
    street = {
        "type": "object",
        "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
    }
    made.parameters = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": street},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    }


def _add_prompts(server: Server) -> None:
    @server.prompt()
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
        resource = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [
            UserMessage(content=resource),
            UserMessage(content="Please process the embedded resource above."),
        ]

    @server.prompt()
    def test_prompt_with_image() -> list[UserMessage]:
        image = ImageContent(type="image", data=PIXEL, mime_type="image/png")
        return [UserMessage(content=image), UserMessage(content="Please analyze the image above.")]


def _embedded(uri: str, kind: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text)
    )


def with_token(app: ASGIApp, token: str) -> ASGIApp:
    """As if each request had come from somebody who knows the token."""

    async def known(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {
                **scope,
                "headers": [*scope["headers"], (b"authorization", f"Bearer {token}".encode())],
            }
        await app(scope, receive, send)

    return known


async def serve(store: str, *, everything: bool) -> None:
    memory = Memory.open(store)
    endpoint = http.listen(memory.settings.home, 0)
    async with running_server(memory, read_only=False) as server:
        if everything:
            add_everything(server)
        app = with_token(http.make_app(server, endpoint), endpoint.token)
        print(endpoint.port, flush=True)
        await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(
            sockets=[endpoint.socket]
        )


if __name__ == "__main__":
    anyio.run(lambda: serve(sys.argv[1], everything="--everything" in sys.argv))
