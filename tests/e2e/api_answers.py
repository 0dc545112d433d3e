"""Whether answers of the daemon are what docs/openapi.json says of them. Everything that the end-to-end tests ask is
checked on the way, each kind of answer a few times."""

import collections
import functools
import json
import pathlib
import re

try:
    import jsonschema
except ImportError:  # Machines without it still run the tests.
    jsonschema = None

DESCRIPTION = pathlib.Path(__file__).resolve().parents[2] / "docs" / "openapi.json"
OFTEN_ENOUGH = 10
seen = collections.Counter()


@functools.cache
def described():
    description = json.loads(DESCRIPTION.read_text())
    routes = [(re.compile(re.sub(r"\{\w+\}", r"[^/]+", path)), item) for path, item in description["paths"].items()]
    return description["components"], routes


@functools.cache
def validator_of(schema):
    components, _ = described()
    return jsonschema.Draft202012Validator(json.loads(schema) | {"components": components})


def schema_of(operation, status):
    answer = operation["responses"].get(str(status), {"$ref": "#/components/responses/Problem"})
    if "$ref" in answer:
        answer = described()[0]["responses"][answer["$ref"].rsplit("/", 1)[1]]
    for content in answer.get("content", {}).values():
        return content["schema"]
    return {}


def check(case, method, path, status, answer):
    if jsonschema is None or answer is None:
        return
    path = path.partition("?")[0]
    for pattern, item in described()[1]:
        operation = item.get(method.lower())
        if operation is None or not pattern.fullmatch(path):
            continue
        kind = (operation["operationId"], status)
        seen[kind] += 1
        if seen[kind] <= OFTEN_ENOUGH:
            problems = [f"{error.json_path}: {error.message}"[:500]
                        for error in validator_of(json.dumps(schema_of(operation, status))).iter_errors(answer)]
            case.assertEqual(problems, [], f"{method} {path}: {status} is not as docs/openapi.json says")
        return
