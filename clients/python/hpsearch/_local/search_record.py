"""What a search with a name was begun with, so that a later call with this name can compare itself."""

from __future__ import annotations

import hashlib
import json
import secrets
import sys
from typing import Any, Dict, List, Mapping

from .._functions.function_file import FunctionFile
from .._functions.stable_digest import NoStableForm

# A later call may change these, because the search goes on with other limits.
LIMITS = ("max_trials", "max_concurrent_trials")
# Fields of the experiment that name or begin it, or are refused where they differ.
_COMPARED = ("name", "entrypoint", "hyperparameters", "searcher", "data")
_ARGUMENTS = {"reproducibility": "seed"}  # Arguments of tune() that have another name.


def parts_of(config: Mapping[str, Any], written: FunctionFile, named: bool) -> Dict[str, Any]:
    """What makes it this search: its function, values, arguments, space and searcher. TypeError: a search with a name uses a value
    that has no form by which a later call could know it."""
    parts: Dict[str, Any] = {"space": config["hyperparameters"], "searcher": {
        field: value for field, value in config["searcher"].items() if field not in LIMITS}}
    try:
        parts.update(written.digests())
    except NoStableForm as error:
        if named:
            raise TypeError("{}. A later call with the name {!r} could not tell whether the data are the same; call tune() "
                            "without a name, or change that value".format(error, config["name"])) from error
        parts["function"] = secrets.token_hex()  # It can't be called again.
    made: Dict[str, Any] = json.loads(json.dumps(parts))
    return made


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> List[str]:
    """The names of parts that differ."""
    out = []
    for part in ("function", "value", "argument", "space", "searcher"):
        was, has = before.get(part), now.get(part)
        if was == has:
            continue
        names = sorted(name for name in set(was) | set(has) if was.get(name) != has.get(name)
                       ) if isinstance(was, dict) and isinstance(has, dict) else []
        out.append("{} ({})".format(part, ", ".join(names)) if names else part)
    return out


def other_fields(config: Mapping[str, Any]) -> Dict[str, str]:
    """Digests of the other fields. A search goes on with those that it was begun with. They may have secrets."""
    return {field: hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
            for field, value in _without_paths(config).items() if field not in _COMPARED}


def note_other_fields(name: str, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Says which other fields differ. Both are other_fields()."""
    begun = {field: value for field, value in before.items() if field != "reproducibility" or field in now}  # Else drawn at random.
    changed = sorted(_ARGUMENTS.get(field, field) for field in set(begun) | set(now) if begun.get(field) != now.get(field))
    if changed:
        print("hpsearch: the search {!r} goes on with the {} that it was begun with. To change this, give the search another name"
              .format(name, ", ".join(changed)), file=sys.stderr, flush=True)


def _without_paths(config: Mapping[str, Any]) -> Dict[str, Any]:
    """An experiment without the place of this package, which may move."""
    out: Dict[str, Any] = json.loads(json.dumps(config))
    environment_section = out.get("environment") or {}
    variables = environment_section.get("environment_variables")
    if isinstance(variables, dict):
        variables.pop("PYTHONPATH", None)
        if not variables:
            del environment_section["environment_variables"]
    if not environment_section:
        out.pop("environment", None)
    return out
