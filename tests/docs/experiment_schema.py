"""The schema of experiment files, and ways around in it."""

import json

import jsonschema

from experiment_program import ROOT

SCHEMA = json.loads((ROOT / "docs" / "experiment-file.schema.json").read_text())
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def at(pointer):
    """What the schema has at a path of keys and numbers; "" is all of it."""
    here = SCHEMA
    for key in pointer.split("/") if pointer else ():
        here = here[int(key)] if isinstance(here, list) else here[key]
    return here


def resolved(field):
    """What a field says itself, and what it refers to."""
    merged = {}
    for part in (*field.get("allOf", ()), field):
        if "$ref" in part:
            merged |= resolved(at(part["$ref"].removeprefix("#/")))
        merged |= part
    return merged


def is_valid(experiment):
    return VALIDATOR.is_valid(experiment)
