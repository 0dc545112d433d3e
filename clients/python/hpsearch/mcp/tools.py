"""The tools that agents see. Their arguments are those of the HTTP API: api.json is the part of docs/openapi.json that they use."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

API = pathlib.Path(__file__).with_name("api.json")
SKILL = pathlib.Path(__file__).with_name("SKILL.md")
ALLOWANCES = ("submit", "change")
LONGEST_WAIT = 600  # Seconds.


class Tool(NamedTuple):
    """A tool, and the operation of the API that it calls."""

    name: str
    about: str  #: Follows the summary of the operation.
    operation: str = ""  #: Its operationId; "": the server has it alone.
    takes: Tuple[str, ...] = ()  #: Arguments of the operation that the tool has.
    needs: str = ""  #: The word of --allow that the tool needs; "": it only reads.
    defaults: Mapping[str, Any] = {}  #: Values of arguments that are missing.
    #: JSON Schemas of arguments by name. They complete those of the operation, or are the server's own.
    more: Mapping[str, Mapping[str, Any]] = {}
    required: Tuple[str, ...] = ()  #: Arguments of `more` that must be there.
    summarized: bool = True  #: Whether the summary of the operation describes the tool.


_CONFIG: Mapping[str, Any] = {
    "type": ["object", "string"],
    "description": "The experiment: an object with the fields of an experiment file, or the text of such a file in YAML."}
_PAGE = {"limit": {"maximum": 200, "description": "The most entries of the answer (default 20)."}}

TOOLS: Tuple[Tool, ...] = (
    Tool("list", "Without `archived`, experiments that were archived are left out.", "list_experiments",
         ("state", "workspace", "label", "owner", "archived", "q", "sort", "after", "limit"),
         defaults={"limit": 20, "sort": "-created_at"}, more=dict(_PAGE, sort={
             "description": "Names with commas between: name,-created_at (default -created_at: the newest first)."})),
    Tool("show", "`reason` says why it stops or has ended, `waits_for` why no trial runs, and `notes` and `doubts` what is odd about "
         "its reports.", "show_experiment", ("experiment",)),
    Tool("config", "Secrets are masked.", "show_config", ("experiment",)),
    Tool("trials", "With `sort` \"metric\" the best come first.", "list_trials",
         ("experiment", "state", "where", "sort", "after", "limit"), defaults={"limit": 20}, more=_PAGE),
    Tool("best", "It has the hyperparameters, the metric and the step at which it was measured.", "show_best", ("experiment",)),
    Tool("explain", "The answer has ranks, cut-offs and counts: why it was stopped, promoted or waits, and what has to happen next.",
         "explain_trial", ("experiment", "trial")),
    Tool("importance", "It needs at least 10 results at one length.", "get_importance", ("experiment", "rung")),
    Tool("curves", "Compares how the metric developed.", "get_curves", ("experiment", "metric", "trials", "points"),
         defaults={"points": 20}, more={
             "trials": {"description": "Numbers of trials with commas between; without them, the five best."},
             "points": {"maximum": 500, "description": "The most values of each curve (default 20)."}}),
    Tool("logs", "Answers a piece of the log of a trial. Read the stream stderr if a trial failed.", "read_log",
         ("experiment", "trial", "attempt", "offset", "limit", "rank", "worker", "stream", "q"), defaults={"limit": 16000},
         summarized=False, more={
             "offset": {"description": "First byte of the piece. Without it, and without `q`, the piece is the end of the log."},
             "limit": {"minimum": 1, "maximum": 65536, "description": "The most bytes (default 16000)."}}),
    Tool("files", "`read_file` reads one of them.", "list_trial_files", ("experiment", "trial")),
    Tool("read_file", "The answer is a piece of a text file that a trial left.", "fetch_file", ("experiment", "trial"), more={
        "path": {"type": "string", "description": "Path of the file, as `files` lists it."},
        "offset": {"type": "integer", "minimum": 0, "description": "First byte of the piece (default 0)."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 65536, "description": "The most bytes (default 16000)."}},
        defaults={"offset": 0, "limit": 16000}, required=("path",), summarized=False),
    Tool("wait", "Waits until the experiment has ended or has paused itself, at most `timeout` seconds. `over` says whether it has; if "
         "not, call it again. The search goes on in either case.", "show_experiment", ("experiment",), defaults={"timeout": 45}, summarized=False, more={
             "timeout": {"type": "number", "minimum": 0, "maximum": LONGEST_WAIT, "description":
                         "Seconds, at most {} (default 45). Your client may have a shorter limit for calls.".format(LONGEST_WAIT)}}),
    Tool("preview", "Call it before `submit`. All mistakes are listed at once. `to_confirm` has what makes the search useless; `budget` "
         "says whether this server would accept it.", "preview_experiment", (), more={"config": _CONFIG}, required=("config",)),
    Tool("budget", "Shows which experiments and changes this server still accepts: limits, what is used, what is left.", needs="submit"),
    Tool("submit", "The experiment must set `budget.max_slot_hours` and fit into the budget of this server. The server puts its label "
         "and workspace into the experiment.", "create_experiment", ("name", "seed"), "submit", more={
             "config": _CONFIG,
             "context": {"type": "string", "description":
                         "Directory with the program, which each trial gets a copy of; relative to the server's --context-root."},
             "confirm": {"type": "boolean", "description":
                         "Submit although `preview` has entries in `to_confirm` (default false)."},
             "key": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[ -~]*$", "description":
                     "Any text. The same call with the same key creates one experiment: use one if you repeat a call whose answer "
                     "was lost."}}, required=("config",)),
    Tool("set", "Raised limits count for the budget of this server. `searcher` has max_trials, max_concurrent_trials, "
         "points_to_evaluate and on_duplicate; `resources` max_slots, priority and weight; `budget` max_time, max_slot_hours, "
         "max_failed_trials and target.", "change_experiment", ("experiment", "searcher", "resources", "budget"), "change"),
    Tool("pause", "Running trials save checkpoints and end.", "pause_experiment", ("experiment",), "change"),
    Tool("resume", "", "resume_experiment", ("experiment",), "change"),
    Tool("cancel", "Running trials save checkpoints and end. The results stay; a canceled experiment can't continue.",
         "cancel_experiment", ("experiment",), "change"),
)

_ABOUT = {"experiment": "Number of the experiment.", "trial": "Number of the trial in its experiment."}


def operations() -> Dict[str, Dict[str, Any]]:
    """operationId → "method", "path", "summary", "parameters" and "body" of the operations that the tools call."""
    found: Dict[str, Dict[str, Any]] = json.loads(API.read_text(encoding="utf-8"))
    return found


def allowed_tools(allowances: Tuple[str, ...]) -> List[Tool]:
    """The tools of a server that was started with these words of --allow."""
    return [tool for tool in TOOLS if not tool.needs or tool.needs in allowances or tool.name == "budget" and allowances]


def description_of(tool: Tool, known: Mapping[str, Mapping[str, Any]]) -> str:
    """What an agent reads about the tool."""
    summary = "{}.".format(known[tool.operation]["summary"]) if tool.operation and tool.summarized else ""
    return " ".join(part for part in (summary, tool.about) if part)


def schema_of(tool: Tool, known: Mapping[str, Mapping[str, Any]]) -> Dict[str, Any]:
    """The JSON Schema of the tool's arguments."""
    properties: Dict[str, Dict[str, Any]] = {}
    required = []
    operation = known.get(tool.operation, {})
    given = {one["name"]: one for one in operation.get("parameters", [])}
    body = operation.get("body", {}).get("properties", {})
    for name in tool.takes:
        if name in given:
            about = given[name].get("description") or _ABOUT.get(name, "")
            properties[name] = dict(given[name]["schema"], **({"description": about} if about else {}))
            if given[name].get("required"):
                required.append(name)
        else:
            properties[name] = dict(body[name])
    for name, schema in tool.more.items():
        properties[name] = dict(properties.get(name, {}), **schema)
    return {"type": "object", "properties": properties, "required": required + list(tool.required), "additionalProperties": False}
