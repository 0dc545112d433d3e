"""docs/openapi.json is what the daemon says about its HTTP API, and clients/python/hpsearch/mcp/api.json the part of it that the
tools of hpsearch-mcp use.

  api_description.py HPSEARCHD           fails when they differ
  api_description.py --write HPSEARCHD   writes both files"""

import difflib
import json
import pathlib
import subprocess
import sys

from experiment_fields import formatted

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients" / "python"))

from hpsearch.mcp import tools

PAGE = ROOT / "docs" / "openapi.json"


def resolved(described, part):
    """The part with the schemas that it names in their places."""
    if isinstance(part, list):
        return [resolved(described, one) for one in part]
    if not isinstance(part, dict):
        return part
    named = {}
    if "$ref" in part:
        target = described
        for step in part["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        named = resolved(described, target)
    return {**named, **{name: resolved(described, value) for name, value in part.items() if name != "$ref"}}


def part_of_the_tools(described):
    """The text of api.json: operationId to the operation."""
    wanted = {tool.operation for tool in tools.TOOLS if tool.operation}
    found = {}
    for path, methods in sorted(described["paths"].items()):
        for method, operation in methods.items():
            if operation["operationId"] not in wanted:
                continue
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            found[operation["operationId"]] = {
                "method": method.upper(), "path": path, "summary": operation["summary"],
                "parameters": [one for one in resolved(described, operation.get("parameters", [])) if one["in"] != "header"],
                "body": resolved(described, body)}
    missing = wanted - set(found)
    if missing:
        sys.exit(f"{tools.__file__}: the API has no operation {', '.join(sorted(missing))}")
    return formatted(found) + "\n"


def main():
    described = json.loads(subprocess.run([sys.argv[-1], "--describe-api"], check=True, capture_output=True, text=True).stdout)
    texts = {PAGE: formatted(described) + "\n", tools.API: part_of_the_tools(described)}
    if "--write" in sys.argv:
        for path, text in texts.items():
            path.write_text(text)
        return
    differences = [line for path, text in texts.items()
                   for line in difflib.unified_diff(path.read_text().splitlines(True), text.splitlines(True), str(path), "the daemon", n=0)]
    if differences:
        print("".join(differences))
        sys.exit("Write it: python3 tests/docs/api_description.py --write build/dev/bin/hpsearchd")


if __name__ == "__main__":
    main()
