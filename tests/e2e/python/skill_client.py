"""An agent without a model: it makes the calls of a skill file, one after another and as they are written, with the client of the
protocol's SDK. It runs in build/python-mcp (scripts/setup test).

  skill_client.py SKILL stdio COMMAND [ARGUMENT …]   starts the server
  skill_client.py SKILL http URL TOKEN               connects to one

A block ```call TOOL is a call; ```call TOOL until FIELD is repeated until FIELD of its answer is true. A text "<name>" in its arguments
becomes `name` of the latest answer that has it. Prints a line of JSON for each call, {"tool", "error", "answer"}, and first one
with the names of all tools.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

BLOCK = re.compile(r"^```call (\w+)(?: until (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOST_REPEATS = 200


def calls_of(text):
    """(tool, field or None, arguments) for each block."""
    return [(tool, field or None, json.loads(arguments)) for tool, field, arguments in BLOCK.findall(text)]


def filled(value, answers):
    """The arguments with values of earlier answers in the places of their names."""
    if isinstance(value, dict):
        return {name: filled(one, answers) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, answers) for one in value]
    found = re.fullmatch(r"<(\w+)>", value) if isinstance(value, str) else None
    return next(answer[found[1]] for answer in reversed(answers) if found[1] in answer) if found else value


async def follow(client, text):
    tools = [tool.name for tool in (await client.list_tools()).tools]
    print(json.dumps({"tools": tools}), flush=True)
    answers = []
    for tool, field, arguments in calls_of(text):
        for _ in range(MOST_REPEATS):
            result = await client.call_tool(tool, filled(arguments, answers))
            answer = result.structured_content if not result.is_error else result.content[0].text
            if result.is_error or not field or answer[field]:
                break
        print(json.dumps({"tool": tool, "error": result.is_error, "answer": answer}), flush=True)
        if result.is_error:
            return 1
        answers.append(answer)
    return 0


@contextlib.asynccontextmanager
async def connected(kind, words):
    if kind == "stdio":
        # The SDK passes only few variables on.
        async with Client(StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))) as client:
            yield client
        return
    url, token = words
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + token}, timeout=120) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            yield client


async def main():
    skill, kind, *words = sys.argv[1:]
    async with connected(kind, words) as client:
        return await follow(client, pathlib.Path(skill).read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
