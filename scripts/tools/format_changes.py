#!/usr/bin/python3
"""Compares the formats of HEAD with those of the last release: what a release wrote must stay readable.

    format_changes.py [TAG]      prints each change that needs a new version of its format; exit 1 if there is one. Without TAG
                                 the last tag v* before HEAD; without any release nothing is compared
    format_changes.py --self-test

- A golden file of stored events or worker messages (tests/golden/store_vN, wire_vN) is never edited or removed while version N
  is read (proto/include/hpsearch/proto/wire/version.hpp).
- The API v1 only grows: each path, method and field of docs/openapi.json stays, and no request needs a new field.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSIONS = "proto/include/hpsearch/proto/wire/version.hpp"
API = "docs/openapi.json"
GOLDEN = re.compile(r"tests/golden/(store|wire)_v(\d+)/")


def git(root, *words):
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True).stdout


def last_release(root):
    tags = git(root, "tag", "--merged", "HEAD", "--no-contains", "HEAD", "--sort=-version:refname", "--list", "v[0-9]*").split()
    return tags[0] if tags else None


def golden_changes(root, tag):
    header = git(root, "show", f"HEAD:{VERSIONS}")
    oldest = {kind: int(re.search(rf"\boldest_{kind}_version = (\d+);", header)[1]) for kind in ("store", "wire")}
    for line in git(root, "diff", "--no-renames", "--name-status", tag, "HEAD", "--", "tests/golden").splitlines():
        status, path = line.split("\t")
        found = GOLDEN.match(path)
        if found and status != "A" and int(found[2]) >= oldest[found[1]]:
            yield (f"{path} was {'removed' if status == 'D' else 'edited'}, but {tag} has written it: "
                   f"raise {found[1]}_version, and read both")


def fields_of(api):
    """What clients of an API rely on, and what its requests need."""
    there, needed = set(), set()
    for path, item in api["paths"].items():
        for method, operation in item.items():
            if not isinstance(operation, dict):
                continue
            there.add(f"{method.upper()} {path}")
            needed |= {f"{method.upper()} {path}: parameter {one['name']}" for one in operation.get("parameters", ())
                       if one.get("required") and one.get("in") != "path"}
            body = operation.get("requestBody", {})
            for kind, content in body.get("content", {}).items():
                name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
                schema = api.get("components", {}).get("schemas", {}).get(name, content.get("schema", {}))
                needed |= {f"{method.upper()} {path}: field {one} of the body ({kind})" for one in schema.get("required", ())}
    for name, schema in api.get("components", {}).get("schemas", {}).items():
        there |= {f"the field {field} of {name}" for field in schema.get("properties", {})}
    return there, needed


def api_changes(root, tag):
    before, needed_before = fields_of(json.loads(git(root, "show", f"{tag}:{API}")))
    now, needed_now = fields_of(json.loads(git(root, "show", f"HEAD:{API}")))
    methods_before = {one for one in before if not one.startswith("the field")}
    for one in sorted(before - now):
        yield f"{API}: {one} is missing, but {tag} has it: clients of v1 may use it"
    for one in sorted(needed_now - needed_before):
        if one.split(": ")[0] in methods_before:
            yield f"{API}: {one} became required, but clients of {tag} don't send it"


def changes(root, tag):
    return [*golden_changes(root, tag), *api_changes(root, tag)]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)

        def write(path, text):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")

        def commit(message):
            git(root, "add", "--all")
            git(root, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "--message", message)

        def api(**fields):
            operation = {"parameters": [{"name": name, "in": "query", "required": True} for name in fields.get("parameters", ())]}
            return json.dumps({"paths": {path: {"get": operation} for path in fields["paths"]},
                               "components": {"schemas": {"Trial": {"properties": dict.fromkeys(fields["properties"])}}}})

        git(root, "init", "--quiet")
        write(VERSIONS, "oldest_wire_version = 1;\noldest_store_version = 1;\n")
        write("tests/golden/store_v1/a.msgpack", "a")
        write("tests/golden/wire_v1/b.msgpack", "b")
        write(API, api(paths=["/x", "/y"], properties=["id", "state"]))
        commit("one")
        assert last_release(root) is None
        git(root, "tag", "v0.2.0")
        assert last_release(root) is None, "a tag of HEAD is no earlier release"
        write("tests/golden/store_v1/c.msgpack", "c")
        write(API, api(paths=["/x", "/y", "/z"], properties=["id", "state", "more"]))
        commit("grown")
        assert last_release(root) == "v0.2.0" and changes(root, "v0.2.0") == [], changes(root, "v0.2.0")
        write("tests/golden/store_v1/a.msgpack", "other")
        (root / "tests/golden/wire_v1/b.msgpack").unlink()
        write(API, api(paths=["/x"], properties=["id"], parameters=["limit"]))
        commit("broken")
        found = changes(root, "v0.2.0")
        expected = ["store_v1/a.msgpack was edited", "wire_v1/b.msgpack was removed", "GET /y is missing", "the field state of Trial is missing",
                    "GET /x: parameter limit became required"]
        assert len(found) == len(expected), found
        for line in expected:
            assert any(line in one for one in found), (line, found)
        write(VERSIONS, "oldest_wire_version = 2;\noldest_store_version = 2;\n")
        commit("no longer read")
        assert [one for one in changes(root, "v0.2.0") if "golden" in one] == []
    print(f"{len(expected)} planted changes of formats found, and nothing else")


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print(__doc__, file=sys.stderr)
        return 2
    tag = arguments[0] if arguments else last_release(ROOT)
    if tag is None:
        print("there is no earlier release (tag v*): no formats to compare with")
        return 0
    found = changes(ROOT, tag)
    print("\n".join(found) or f"whatever {tag} writes is read, and the API has only grown")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
