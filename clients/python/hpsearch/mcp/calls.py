"""Calls of tools: arguments are checked, requests are sent, and answers are cut to a size that an agent can read."""

from __future__ import annotations

import json
import pathlib
import threading
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Set

from .._client.client import Client
from .._client.file import read_config
from .._functions.snapshot import Snapshot
from .._problems import BadRequest, items_of
from .budget import Budget
from .tools import TOOLS, Tool, allowed_tools, operations, schema_of

_MOST_ANSWER = 120_000  # Bytes.
_MOST_FILE = 8_000_000  # Bytes of a file whose pieces are read.
_BEST_CURVES = 5


class Refused(Exception):
    """The server refuses a call; the text says why, and what is allowed."""


class Rules(NamedTuple):
    """What the agents of a server may do."""

    allow: "tuple[str, ...]" = ()  #: Words of --allow.
    budget: Optional[Budget] = None  #: Not None if there is a word.
    project: str = "default"  #: The project of new experiments whose file names none.
    context_root: Optional[pathlib.Path] = None  #: Contexts lie in it; None: experiments have no context.


class Calls:
    """The tools of one daemon. Threads may share it: budgets hold for all of them together."""

    def __init__(self, client: Client, rules: Rules, problems_of: Callable[[Mapping[str, Any], Any], List[str]]) -> None:
        """`problems_of` checks arguments: (JSON Schema, arguments) → sentences."""
        self.client = client
        self.rules = rules
        self._problems_of = problems_of
        self._operations = operations()
        self._tools = {tool.name: tool for tool in allowed_tools(rules.allow)}
        self._own: Dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "best": self._best, "budget": self._budget, "curves": self._curves, "logs": self._logs, "read_file": self._read_file,
            "preview": self._preview, "submit": self._submit, "set": self._set}
        self._creation = threading.Lock()
        self._keys: Set[str] = set()

    def checked(self, name: str, arguments: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
        """The arguments, with defaults. Refused: there is no such tool here, or an argument is wrong."""
        tool = self._tools.get(name)
        if tool is None:
            needs = next((one.needs for one in TOOLS if one.name == name), "")
            raise Refused("{} is not allowed here: hpsearch-mcp was started without --allow {}".format(name, needs) if needs else
                          "there is no tool {}; there are {}".format(name, ", ".join(self._tools)))
        given = {key: value for key, value in (arguments or {}).items() if value is not None}
        wrong = self._problems_of(schema_of(tool, self._operations), given)
        if wrong:
            raise Refused("{}: {}".format(name, "; ".join(wrong)))
        return dict(tool.defaults, **given)

    def run(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """The answer to a call with arguments that were checked. Problem: the daemon refused it. Refused: this server did."""
        tool = self._tools[name]
        if tool.needs == "change":
            self._may_change(int(arguments["experiment"]))
        own = self._own.get(name)
        answer = own(arguments) if own else self._ask(tool, arguments)
        size = len(json.dumps(answer, ensure_ascii=False).encode())
        if size > _MOST_ANSWER:
            raise Refused("the answer has {} bytes, more than {}; ask for less{}".format(size, _MOST_ANSWER, ": " + ", ".join(
                one for one in ("limit", "where", "trials", "points") if one in schema_of(tool, self._operations)["properties"])))
        return answer

    def now(self, experiment: int) -> Snapshot:
        """The experiment at this moment."""
        return Snapshot(self._ask(self._tools["show"], {"experiment": experiment}))

    def _ask(self, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        operation = self._operations[tool.operation]
        places = {one["name"]: one["in"] for one in operation["parameters"]}
        path = str(operation["path"])
        for name, place in places.items():
            if place == "path":
                path = path.replace("{" + name + "}", str(arguments[name]))
        query = {name: arguments[name] for name, place in places.items() if place == "query" and name in arguments}
        body = {name: value for name, value in arguments.items() if name not in places}
        self.client._meet()
        answer = self.client._transport.ask(operation["method"], path, query, body=body or None)
        return answer.json()

    # --- tools that are more than one request ---

    def _best(self, arguments: Mapping[str, Any]) -> Any:
        answer = self._ask(self._tools["best"], arguments)
        if answer is not None:
            return answer
        now = self.now(int(arguments["experiment"]))
        return {"best": None, "state": now.state, "reason": now.reason, "waits_for": now.waits_for, "notes": now.notes}

    def _curves(self, arguments: Mapping[str, Any]) -> Any:
        if "trials" not in arguments:
            page = self._ask(self._tools["trials"], {"experiment": arguments["experiment"], "sort": "metric", "limit": _BEST_CURVES})
            arguments = dict(arguments, trials=",".join(str(one["trial"]) for one in page["trials"]))
            if not page["trials"]:
                raise Refused("experiment {} has no trial yet".format(arguments["experiment"]))
        return self._ask(self._tools["curves"], arguments)

    def _logs(self, arguments: Mapping[str, Any]) -> Any:
        if "offset" not in arguments and "q" not in arguments:
            arguments = dict(arguments, offset=arguments["limit"], from_end="true")
        return self._ask(self._tools["logs"], arguments)

    def _read_file(self, arguments: Mapping[str, Any]) -> Any:
        listed = self._ask(self._tools["files"], arguments)["files"]
        found = next((one for one in listed if one["path"] == arguments["path"] and not one.get("link")), None)
        if found is None:
            raise Refused("trial {} left no file {!r}; `files` lists those that it left".format(arguments["trial"], arguments["path"]))
        if int(found["bytes"]) > _MOST_FILE:
            raise Refused("{} has {} bytes, more than {}; `hpsearch files` downloads it".format(
                found["path"], found["bytes"], _MOST_FILE))
        path = "/api/v1/experiments/{experiment}/trials/{trial}/files/".format(**arguments) + str(found["digest"])
        content = self.client._transport.ask("GET", path, {"worker": found["worker"]}).body
        if b"\0" in content[:8192]:
            raise Refused("{} is no text; `hpsearch files` downloads it".format(found["path"]))
        offset = int(arguments["offset"])
        piece = content[offset:offset + int(arguments["limit"])]
        return {"path": found["path"], "size": len(content), "offset": offset, "text": piece.decode("utf-8", "replace")}

    def _budget(self, _: Mapping[str, Any]) -> Any:
        assert self.rules.budget is not None
        return self.rules.budget.report()

    def _preview(self, arguments: Mapping[str, Any]) -> Any:
        config = self._config(arguments)
        answer = self.client._validation(config)
        if not answer["valid"]:
            raise BadRequest("the experiment has mistakes", problems=items_of(answer["problems"]))
        found = dict(self.client.preview(config), to_confirm=answer["to_confirm"])
        if self.rules.budget is not None:
            why = self.rules.budget.refusal(self.rules.budget.share_of_config(answer["config"]))
            found["budget"] = {"fits": not why, "why": why}
        return found

    def _submit(self, arguments: Mapping[str, Any]) -> Any:
        budget = self.rules.budget
        assert budget is not None
        config = self._config(arguments)
        self._put_in(config, "workspace", budget.workspace)
        if not config.get("project"):
            config["project"] = self.rules.project
        labels = config.get("labels") or []
        if not isinstance(labels, list):
            raise Refused("submit: labels is {!r}; it must be a list of texts".format(labels))
        config["labels"] = labels + [budget.label] * (budget.label not in labels)
        answer = self.client._validation(config)
        if not answer["valid"]:
            raise BadRequest("the experiment has mistakes", problems=items_of(answer["problems"]))
        if answer["to_confirm"] and not arguments.get("confirm"):
            raise Refused("the search would be useless: {}. Correct it, or submit it with confirm: true".format(
                " ".join(_text(one) for one in answer["to_confirm"])))
        context = self._context(arguments.get("context"))
        key = arguments.get("key")
        with self._creation:  # Calls run one after the other, so that each counts the experiments of the one before.
            why = "" if key in self._keys else budget.refusal(budget.share_of_config(answer["config"]))
            if why:
                raise Refused(why)
            experiment = self.client.submit(config, context=context, name=arguments.get("name"), seed=arguments.get("seed"), key=key)
            if key:
                self._keys.add(str(key))  # The daemon creates nothing for it again.
        return {"experiment": experiment.id, "notes": [_text(one) for one in answer["notes"]], "now": dict(experiment.now().raw)}

    def _set(self, arguments: Mapping[str, Any]) -> Any:
        budget, number = self.rules.budget, int(arguments["experiment"])
        assert budget is not None
        changes = {name: value for name, value in arguments.items() if name != "experiment"}
        if not changes:
            raise Refused("set: no limit is given; give searcher, resources or budget")
        for section, name in (("searcher", "max_trials"), ("budget", "max_slot_hours")):
            value = changes.get(section, {}).get(name, 0)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise Refused("set: {}.{} is {}; it must be a number".format(section, name, json.dumps(value)))
        with self._creation:
            experiment = self.client.experiment(number)
            now, config = experiment.now(), experiment.config
            for section, limits in changes.items():
                config[section] = dict(config.get(section) or {}, **limits)
            planned = budget.share_of_config(config)
            share = planned._replace(trials=max(planned.trials, int(now.raw["trials_total"])),
                                     slot_hours=max(planned.slot_hours, float(now.raw["slot_seconds"]) / 3600))
            current = budget.share_of(number)
            takes_more = share.trials > current.trials or share.slot_hours > current.slot_hours
            why = budget.refusal(share, number) if takes_more else ""
            if why:
                raise Refused(why)
            return self._ask(self._tools["set"], arguments)

    # --- what is allowed ---

    def _may_change(self, number: int) -> None:
        budget = self.rules.budget
        assert budget is not None
        raw = self.now(number).raw
        if raw["workspace"] != budget.workspace or budget.label not in raw["labels"]:
            raise Refused("experiment {} is in the workspace {!r} and has the labels {}; this server changes only experiments with the "
                          "label {!r} in the workspace {!r}".format(number, raw["workspace"], raw["labels"] or "[]", budget.label,
                                                                    budget.workspace))

    def _config(self, arguments: Mapping[str, Any]) -> Dict[str, Any]:
        """The experiment as a dict. A text is the text of a file, never a path: an agent reads no file of this machine so."""
        config = arguments["config"]
        if isinstance(config, str):
            config = config + "\n"
        return dict(read_config(self.client._transport, config).config)

    def _put_in(self, config: Dict[str, Any], field: str, value: str) -> None:
        given = config.get(field)
        if given not in (None, "", value):
            raise Refused("submit: {0} is {1!r}; this server submits to the {0} {2!r}".format(field, given, value))
        config[field] = value

    def _context(self, given: Optional[str]) -> Optional[pathlib.Path]:
        if given is None:
            return None
        root = self.rules.context_root
        if root is None:
            raise Refused("submit: there is no context, because hpsearch-mcp was started without --context-root")
        found = (root / given).resolve()
        if found != root and root not in found.parents:
            raise Refused("submit: the context {!r} is not in {}".format(given, root))
        if not found.is_dir():
            raise Refused("submit: the context {!r} is no directory of {}".format(given, root))
        return found


def _text(note: Any) -> str:
    return str(note.get("text") or note) if isinstance(note, Mapping) else str(note)
