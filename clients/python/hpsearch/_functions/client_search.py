"""A search of tune() at a daemon: begun, or continued by its name."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Optional

from .._client.client import Client
from .._client.context import copy_context, pack_context
from .._client.experiment import Experiment
from .._local.search_record import LIMITS, differences, note_other_fields, other_fields, parts_of
from .._problems import Conflict, NotFound
from .confirmation import Confirmation
from .function_file import FunctionFile

_DATA = "hpsearch.tune"  # In the section `data` of the experiment: what a later call with the name compares.
_MOST_TIMES = 100
_LARGEST_CONTEXT = 1_000_000  # Megabytes.


def search_at(client: Client, config: Dict[str, Any], written: FunctionFile, context: Optional[pathlib.Path], resume: str,
              named: bool, confirmation: Confirmation, found: Callable[[Experiment], None]) -> Experiment:
    """The experiment of a search with its name, which goes on with the present limits, or a new one. `found` is called with one that
    exists before its limits change.

    ValueError: the name is of another search, or `resume` refuses it.
    """
    name = str(config["name"])
    parts = parts_of(config, written, named)
    known = _known(client, name) if named else None
    if resume == "never" and known is not None:
        raise ValueError('the search {!r} exists, as experiment {} of {}; give another name, or resume="auto"'.format(
            name, known.id, client.address))
    if resume == "require" and known is None:
        raise ValueError("there is no search {!r} at {}".format(name, client.address))
    if known is not None:
        return _continued(known, config, parts, client, found)
    config.setdefault("data", {})[_DATA] = {"parts": parts, "other_fields": other_fields(config)}
    confirmation.confirm(client._validation(config))
    with tempfile.TemporaryDirectory(prefix="hpsearch-") as folder:
        directory = pathlib.Path(folder, "context")
        copy_context(context, directory)
        written.write(directory)
        packed = pack_context(directory, _LARGEST_CONTEXT)
        if not named:
            return client.submit_packed(config, packed)
        # If two processes begin it at once, the second one gets a Conflict, or the experiment of the first. Each search of
        # the name that was deleted has used a key.
        for time in range(1, _MOST_TIMES):
            try:
                return client.submit_packed(config, packed, key="tune:{}{}".format(name, "" if time == 1 else ":{}".format(time)))
            except (Conflict, NotFound):
                known = _known(client, name)
            if known is not None:
                return _continued(known, config, parts, client, found)
        raise ValueError("the name {!r} was used too often at this daemon; give another name".format(name))


def _known(client: Client, name: str) -> Optional[Experiment]:
    """The experiment that tune() began with this name."""
    for archived in ("false", "true"):
        for one in reversed(client.experiments(q=name, archived=archived)):
            if one.name == name:
                experiment = client.experiment(one.id)
                if _DATA in (experiment.config.get("data") or {}):
                    return experiment
    return None


def _continued(known: Experiment, config: Mapping[str, Any], parts: Mapping[str, Any], client: Client,
               found: Callable[[Experiment], None]) -> Experiment:
    present = known.config
    begun = present["data"][_DATA]
    changed: List[str] = differences(begun["parts"], parts)
    if changed:
        raise ValueError("the search {!r} at {} was begun with another {}; give it another name".format(
            config["name"], client.address, ", ".join(changed)))
    note_other_fields(str(config["name"]), begun["other_fields"], other_fields(config))
    found(known)
    limits = {limit: config["searcher"][limit] for limit in LIMITS if limit in config["searcher"]}
    if any(present["searcher"].get(limit) != value for limit, value in limits.items()):
        known.set(**limits)
    return known
