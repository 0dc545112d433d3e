"""What the daemon says about an experiment file, in the words of a call of tune(), which writes that file."""

from __future__ import annotations

import re
from typing import List, Mapping

from .._problems import BadRequest, ProblemItem

# Fields of the file, and the arguments that they come from. A longer one decides before a shorter one.
ARGUMENTS: Mapping[str, str] = {
    "hyperparameters": "space", "where": "where", "searcher": "searcher", "searcher.name": "searcher", "searcher.metric": "metric",
    "searcher.smaller_is_better": "smaller_is_better", "searcher.max_length": "max_length", "searcher.max_trials": "max_trials",
    "searcher.sampler": "sampler", "reproducibility": "seed", "reproducibility.experiment_seed": "seed",
    "resources.slots_per_trial": 'resources["gpus"]', "environment.preload": "preload",
}
_UNITS = ("epochs", "batches", "records")  # Below max_length; tune() makes these where it gets a number.
_BOUNDS = {"minval": "low", "maxval": "high", "vals": "options", "val": "value"}  # As hpsearch.uniform() names them.
_IN_SEARCHER = ("on_duplicate", "divisor", "max_rungs", "num_rungs", "mode", "stop_once", "bracket_rungs")

# Sentences that speak of the file.
_SENTENCES = (
    (r"at least one with a type: int, double, log or categorical", "at least one distribution, as hpsearch.uniform(0, 1)"),
    (r"random or grid as searcher\.name", 'searcher="random" or "grid"'),
    (r"(?<![\w.=\"])searcher\.(metric|max_length|max_trials|sampler|smaller_is_better)\b", r"\1"),
    (r"\ba map\b", "a dict"), (r"\b(is|be) true\b", r"\1 True"), (r"\b(is|be) false\b", r"\1 False"), (r"\bis null\b", "is None"),
    (r"^true\b", "True"), (r"^false\b", "False"), (r"`(\w+): (\w+)`", r"\1: \2"),
)


def field_in_python(path: str) -> str:
    """The argument in which a field of the file is given."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        argument = ARGUMENTS.get(".".join(parts[:count]))
        if argument is None:
            continue
        rest = parts[count:]
        if argument == "max_length" and rest and rest[0] in _UNITS:
            rest = rest[1:]
        if argument == "space" and len(rest) > 1 and rest[-1] in _BOUNDS:
            return "{} of {}".format(_BOUNDS[rest[-1]], _below(argument, rest[:-1]))
        return _below(argument, rest)
    return _below(parts[0], parts[1:])


def sentence_in_python(text: str) -> str:
    """A part of a sentence."""
    for pattern, words in _SENTENCES:
        text = re.sub(pattern, words, text)
    text = re.sub(r"\bsampler: (\w+)", r'sampler="\1"', text)
    return re.sub(r"\b({}): (\w+)".format("|".join(_IN_SEARCHER)), _of_searcher, text)


def note_in_python(note: str) -> str:
    """A note about a field, as "searcher.max_trials: is 10 (…)", or any other text, which stays as it is."""
    found = re.match(r"([a-z_]+(?:\.\w+)*): (.*)$", note, re.DOTALL)
    if found is None or found.group(1).split(".")[0] not in _SECTIONS:
        return note
    what, allowed = found.group(2), ""
    with_allowed = re.match(r"(.*) \(((?:[^()]|\([^()]*\))*)\)$", what, re.DOTALL)
    if with_allowed is not None:
        what, allowed = with_allowed.group(1), " ({})".format(sentence_in_python(with_allowed.group(2)))
    return "{}: {}{}".format(field_in_python(found.group(1)), sentence_in_python(what), allowed)


def refusal_in_python(refusal: BadRequest) -> BadRequest:
    """A refusal of the file, without lines of a text that the caller has not written."""
    problems = _problems_in_python(refusal.problems)
    detail = "tune() was refused: {} {} wrong".format(len(problems), "argument is" if len(problems) == 1 else "arguments are")
    return BadRequest(detail, status=refusal.status, type=refusal.type, instance=refusal.instance, problems=problems)


def _problems_in_python(problems: List[ProblemItem]) -> List[ProblemItem]:
    return [ProblemItem(field_in_python(item.path), sentence_in_python(item.what), sentence_in_python(_fields_of_tune(item)), None)
            for item in problems]


def _fields_of_tune(item: ProblemItem) -> str:
    """tune() has arguments of its own beside the fields of the file."""
    return "an argument of tune(), or a field of the experiment file: " + item.allowed[len("one of "):] if (
        item.what == "is not a known field" and "." not in item.path and item.allowed.startswith("one of ")) else item.allowed


def _below(argument: str, rest: List[str]) -> str:
    return argument + "".join('["{}"]'.format(part) for part in rest)


def _of_searcher(found: "re.Match[str]") -> str:
    value = found.group(2)
    literal = {"true": "True", "false": "False"}.get(value, value if value[0].isdigit() else '"{}"'.format(value))
    return 'searcher={{..., "{}": {}}}'.format(found.group(1), literal)


# Other notes, of a program or a trial, may have a colon as well.
_SECTIONS = ("hyperparameters", "searcher", "resources", "budget", "environment", "reproducibility", "where", "max_restarts",
             "pause_on_failures", "lost_after", "progress_timeout", "min_validation_period", "min_checkpoint_period", "checkpoint_storage",
             "checkpoint_policy", "records_per_epoch", "program_traits", "metrics", "name", "description", "labels", "data", "workers")
