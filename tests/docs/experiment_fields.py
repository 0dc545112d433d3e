"""Fields that the engine declares (engine/src/config/experiment_fields.hpp), in docs/experiment-file.md and in
docs/experiment-file.schema.json.

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


def default_cell(field):
    value = field["default"]
    if field["default_text"] or value is None:
        return field["default_text"] or "none"
    return f"`{value}`" if isinstance(value, str) and value else f"`{json.dumps(in_short(value))}`"


def page_with(page, described):
    lines = page.splitlines()
    of_searcher = {
        field["name"]: [kind["name"] for kind in described["searchers"] if field["name"] in kind["fields"]]
        for field in described["sections"]["searcher"]
    }
    for section, fields in described["sections"].items():
        start = lines.index(f"## `{section}`" if section else "## At the top")
        end = next(at for at in range(start + 1, len(lines) + 1) if at == len(lines) or lines[at].startswith("## "))
        rows = {}
        for at in range(start, end):
            if found := re.match(r"\| `(\w+)` \|", lines[at]):
                rows.setdefault(found[1], at)
        new = []
        for field in fields:
            cells = [f"`{field['name']}`", field["meaning"], field["range"], default_cell(field)]
            if section == "searcher":
                cells.append(", ".join(f"`{name}`" for name in of_searcher[field["name"]]) or "all")
            row = "| " + " | ".join(cells) + " |"
            if field["name"] in rows:
                lines[rows[field["name"]]] = row
            else:
                new.append(row)
        last = max(rows[field["name"]] for field in fields if field["name"] in rows)
        lines[last + 1:last + 1] = new
    return "\n".join(lines) + "\n"


def schema_entry(field):
    entry = {"description": plain(field["meaning"])}
    kind = field["schema"]
    if "$ref" in kind:
        entry["allOf"] = [kind]
    elif "enum" in kind:
        entry["enum"] = [*kind["enum"], None]
    else:
        types = kind["type"] if isinstance(kind["type"], list) else [kind["type"]]
        entry |= {"type": [*types, "null"]}
        entry |= {key: value for key, value in kind.items() if key != "type"}
    if field["default"] is not None:
        entry["default"] = field["default"]
    return in_short(entry)


def schema_with(schema, described):
    definitions = schema["definitions"]
    for section, fields in described["sections"].items():
        entries = {field["name"]: schema_entry(field) for field in fields}
        if section == "checkpoint_storage":  # Every kind of storage has them.
            definitions.update(entries)
            for storage in ("shared_fs", "s3", "gcs", "azure"):
                definitions[storage]["properties"].update({name: {"$ref": f"#/definitions/{name}"} for name in entries})
            continue
        place = schema if not section else definitions.get(section) or schema["properties"][section]
        place["properties"].update(entries)
    types = {field["name"]: field["schema"].get("type") for field in described["sections"]["searcher"]}
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
