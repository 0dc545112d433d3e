"""The server of the Model Context Protocol, by its official SDK."""

from __future__ import annotations

import json
import time
from typing import Any, List, Mapping, Optional

import anyio
import jsonschema
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from .._functions.snapshot import Snapshot
from .._local.programs import __version__
from .._problems import Problem
from .calls import Calls, Refused
from .tools import SKILL, allowed_tools, description_of, operations, schema_of

SKILL_ADDRESS = "hpsearch://skill"
_FIRST_PAUSE = 0.1  # Seconds between two looks of `wait`; half as long again each time …
_LONGEST_PAUSE = 2.0  # … up to this.

INSTRUCTIONS = """hpsearch tunes hyperparameters: a daemon runs many trials of a program, and stops poor ones early. Use `preview`
before `submit`, then `wait`, `best` and `explain`. Read the resource {} for the steps and an example of an experiment."""


def make_server(calls: Calls) -> Any:
    """A server with the tools that `calls` allows."""
    known = operations()
    tools = [types.Tool(name=tool.name, description=description_of(tool, known), input_schema=schema_of(tool, known),
                        annotations=types.ToolAnnotations(
                            read_only_hint=tool.needs == "" or tool.name == "budget", destructive_hint=tool.name == "cancel",
                            idempotent_hint=tool.name != "submit", open_world_hint=False))
             for tool in allowed_tools(calls.rules.allow)]
    skill = types.Resource(uri=SKILL_ADDRESS, name="skill", mime_type="text/markdown",
                           description="How to tune hyperparameters with these tools, step by step.")

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: Any) -> Any:
        try:
            answer = await _answer(calls, context, str(params.name), params.arguments)
        except (Problem, Refused, OSError, ValueError, TypeError) as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
        fields = answer if isinstance(answer, dict) else {"answer": answer}
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=fields)

    async def list_resources(_context: Any, _params: Any) -> Any:
        return types.ListResourcesResult(resources=[skill])

    async def read_resource(_context: Any, params: Any) -> Any:
        if str(params.uri) != SKILL_ADDRESS:
            raise MCPError(types.INVALID_PARAMS, "there is no resource {}; there is {}".format(params.uri, SKILL_ADDRESS))
        text = SKILL.read_text(encoding="utf-8")
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=SKILL_ADDRESS, mime_type="text/markdown", text=text)])

    return Server("hpsearch", version=__version__, title="hpsearch", instructions=INSTRUCTIONS.format(SKILL_ADDRESS),
                  on_list_tools=list_tools, on_call_tool=call_tool, on_list_resources=list_resources,
                  on_read_resource=read_resource)


def problems_of(schema: Mapping[str, Any], arguments: Any) -> List[str]:
    """What is wrong with the arguments of a call, one sentence each."""
    found = []
    for error in jsonschema.Draft202012Validator(schema).iter_errors(arguments):
        place = ".".join(map(str, error.absolute_path))
        if error.validator == "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            text = "{} is missing".format(", ".join(missing))
        elif error.validator == "additionalProperties":
            extra = sorted(set(error.instance) - set(schema["properties"]))
            text = "there is no argument {}; there are {}".format(", ".join(extra), ", ".join(schema["properties"]) or "none")
        else:
            text = "{} is {}; allowed: {}".format(place, json.dumps(error.instance), _allowed(error.schema))
        if text not in found:
            found.append(text)
    return found


def _allowed(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    kind = schema.get("type", "any value")
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    for name, text in (("minimum", "at least {}"), ("maximum", "at most {}"), ("minLength", "at least {} characters"),
                       ("maxLength", "at most {} characters"), ("pattern", "as {}")):
        words += ", " + text.format(schema[name]) if name in schema else ""
    return words


async def _answer(calls: Calls, context: Any, name: str, arguments: Optional[Mapping[str, Any]]) -> Any:
    given = calls.checked(name, arguments)
    if name == "wait":
        return await _wait(calls, context, given)
    # A call that its client cancels is not waited for; what it changes it still changes.
    return await anyio.to_thread.run_sync(calls.run, name, given, abandon_on_cancel=True)


async def _wait(calls: Calls, context: Any, arguments: Mapping[str, Any]) -> Any:
    """Looks again and again, so that a cancelled call ends at once, and reports the progress to clients that ask for it."""
    began = time.monotonic()
    pause = _FIRST_PAUSE
    while True:
        now: Snapshot = await anyio.to_thread.run_sync(calls.now, int(arguments["experiment"]), abandon_on_cancel=True)
        over = now.ended or (now.state == "PAUSED" and bool(now.reason))
        left = began + float(arguments["timeout"]) - time.monotonic()
        if over or left <= 0:
            return dict(now.raw, over=over)
        await context.session.report_progress(now.progress, 1.0, repr(now).strip("<>"))
        await anyio.sleep(min(pause, left))
        pause = min(1.5 * pause, _LONGEST_PAUSE)


async def serve_stdio(server: Any) -> None:
    """Serves the client at standard input and output until it closes them."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
