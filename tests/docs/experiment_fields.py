"""Fields that are declared in tables, in docs/experiment-file.md and in docs/experiment-file.schema.json. The tables are
engine/src/config/experiment_fields.hpp and the headers in jobs/include/hpsearch/jobs/fields.

  experiment_fields.py DESCRIBE_EXPERIMENT           fails when a row or an entry differs from its declaration
  experiment_fields.py --write DESCRIBE_EXPERIMENT   writes them: a new field comes last in its table

DESCRIBE_EXPERIMENT is the program describe_experiment."""

import difflib
import json
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGE = DOCS / "experiment-file.md"
SCHEMA = DOCS / "experiment-file.schema.json"
WIDTH = 120


def formatted(node, indent=0, before=0):
    """JSON in which everything that fits stands on one line; `before` letters stand on its first one already."""
    line = json.dumps(node, ensure_ascii=False)
    if before + len(line) < WIDTH or not isinstance(node, (dict, list)) or not node:
        return line
    inner = " " * (indent + 2)
    if isinstance(node, dict):
        parts = [f"{json.dumps(key)}: {formatted(value, indent + 2, indent + len(key) + 6)}" for key, value in node.items()]
    else:
        parts = [formatted(item, indent + 2, indent + 2) for item in node]
    left, right = "{}" if isinstance(node, dict) else "[]"
    return left + "\n" + ",\n".join(inner + part for part in parts) + "\n" + " " * indent + right


def plain(markdown):
    """A sentence for an editor: no links, no backticks."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown).replace("`", "")
    return text[0].upper() + text[1:] + "."


def in_short(value):
    """2 for 2.0, at any depth."""
    return json.loads(json.dumps(value),
                      parse_float=lambda text: int(float(text)) if float(text).is_integer() else float(text))


def is_described_elsewhere(field):
    """A section of its own has the fields and their defaults."""
    return field["range"] == "map" and bool(field["default"])


def default_cell(field):
    value = field["default"]
    if is_described_elsewhere(field):
        return field["default_text"]
    if field["default_text"] or value is None:
        return field["default_text"] or "none"
    return f"`{value}`" if isinstance(value, str) and value else f"`{json.dumps(in_short(value))}`"


def table_under(lines, heading):
    """The first and the last line of what stands under a heading, down to the next one."""
    start = next(at for at, line in enumerate(lines) if re.fullmatch(rf"##+ `?{re.escape(heading)}`?", line))
    end = next((at for at in range(start + 1, len(lines)) if lines[at].startswith("#")), len(lines))
    return start, end


def page_with(page, described):
    lines = page.splitlines()
    of_searcher = {kind["name"]: kind["fields"] for kind in described["searchers"]}
    for section in described["sections"]:
        if not section["heading"]:
            continue
        start, end = table_under(lines, section["heading"])
        rows = {}
        for at in range(start, end):
            if found := re.match(r"\| `(\w+)` \|", lines[at]):
                rows.setdefault(found[1], at)
        new = []
        for field in section["fields"]:
            name = field["name"]
            cells = [f"`{name}`", field["meaning"], field["range"], default_cell(field)]
            if section["heading"] == "searcher":
                cells.append(", ".join(f"`{kind}`" for kind, fields in of_searcher.items() if name in fields) or "all")
            row = re.sub(r"  +", " ", "| " + " | ".join(cells) + " |")
            if name in rows:
                lines[rows[name]] = row
            else:
                new.append(row)
        last = max(at for at in range(start, end) if lines[at].startswith("|"))
        lines[last + 1:last + 1] = new
    return "\n".join(lines) + "\n"


def schema_entry(field, is_required):
    entry = {"description": plain(field["meaning"])}
    kind = field["schema"]
    or_null = [] if is_required else ["null"]
    if "$ref" in kind:
        entry["allOf"] = [kind]
    elif "enum" in kind:
        entry["enum"] = [*kind["enum"], None]
    elif "anyOf" in kind:
        entry["anyOf"] = [*kind["anyOf"], {"type": "null"}]
    elif "type" in kind:
        types = [*(kind["type"] if isinstance(kind["type"], list) else [kind["type"]]), *or_null]
        entry |= {"type": types if len(types) > 1 else types[0]}
        entry |= {key: value for key, value in kind.items() if key != "type"}
    if field["default"] is not None and not is_required and not is_described_elsewhere(field):
        entry["default"] = field["default"]
    return in_short(entry)


def place_in(schema, path):
    """Where a section's fields stand: a map, or the maps of a list or of a map of channels."""
    first, *rest = path.split(".")
    place = schema["definitions"].get(first) or schema["properties"][first]
    for key in rest:
        place = place["properties"][key]
    if "items" in place:
        return place["items"]
    forms = place.get("additionalProperties", False)
    if forms:
        return next(form for form in forms["anyOf"] if "properties" in form)
    return place


def schema_with(schema, described):
    definitions = schema["definitions"]
    storages = definitions["checkpoint_storage"]["properties"]["type"]["enum"]
    for section in described["sections"]:
        path = section["place"]
        # A searcher requires what its kind requires.
        required = [field["name"] for field in section["fields"] if field["default_text"] == "required" and path != "searcher"]
        entries = {field["name"]: schema_entry(field, field["name"] in required) for field in section["fields"]}
        if path == "checkpoint_storage" and "type" not in entries:  # Every kind of storage has them.
            definitions.update(entries)
            for storage in filter(None, storages):
                definitions[storage]["properties"].update({name: {"$ref": f"#/definitions/{name}"} for name in entries})
            continue
        place = place_in(schema, path) if path else schema
        place["properties"].update(entries)
        if required:
            place["required"] = required
    searcher_fields = next(section["fields"] for section in described["sections"] if section["place"] == "searcher")
    types = {field["name"]: field["schema"].get("type") for field in searcher_fields}
    of_some = {name for kind in described["searchers"] for name in kind["fields"]}
    conditions = definitions["searcher"]["allOf"]
    for kind in described["searchers"]:
        condition = next((c for c in conditions if c.get("if", {}).get("properties", {}).get("name") == {"const": kind["name"]}), None)
        if condition is None:
            condition = {"if": {"required": ["name"], "properties": {"name": {"const": kind["name"]}}}}
            conditions.append(condition)
        properties = {}
        for name in definitions["searcher"]["properties"]:
            if name in kind["required"]:
                properties[name] = {"type": types[name]}
            elif name in of_some and name not in kind["fields"]:
                properties[name] = {"$ref": "#/definitions/absent"}
        required = {"required": sorted(kind["required"])} if kind["required"] else {}
        condition["then"] = required | {"properties": properties}
    return schema


def main():
    write, program = "--write" in sys.argv, sys.argv[-1]
    described = json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
    differs = False
    texts = {PAGE: page_with(PAGE.read_text(), described)}
    texts[SCHEMA] = formatted(schema_with(json.loads(SCHEMA.read_text()), described)) + "\n"
    for path, wanted in texts.items():
        found = path.read_text()
        if found == wanted:
            continue
        differs = True
        if write:
            path.write_text(wanted)
        else:
            print("".join(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), str(path), "the declarations", n=0)))
    if differs and not write:
        sys.exit("Write them: python3 tests/docs/experiment_fields.py --write build/dev/tests/docs/describe_experiment")


if __name__ == "__main__":
    main()
