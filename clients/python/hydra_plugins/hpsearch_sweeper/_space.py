"""Overrides of Hydra as a search space, and a drawn configuration as overrides."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, Sequence

import hpsearch as hp
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep, Override, QuotedString, RangeSweep, Transformer

_MOST_STEPS = 1000  # In a range of real numbers that is kept as the list of its values.


class OverrideSpace:
    """What the overrides of a sweep leave open, and what they fix.

    `space` has a distribution for each swept override. Its names are made of the overrides' keys, since hpsearch reads
    dots as groups; `keys` has the key of each. `texts` has, for choices, each value with its text in an override.
    """

    def __init__(self, parser: OverridesParser, overrides: Sequence[str]) -> None:
        """ValueError: an override cannot be searched. HydraException: one cannot be read."""
        self.space: Dict[str, Dict[str, Any]] = {}
        self.keys: Dict[str, str] = {}
        self.texts: Dict[str, List[List[Any]]] = {}
        self.fixed: List[str] = []
        last: Dict[str, Override] = {}
        for override in parser.parse_overrides(list(overrides)):
            plain_key = override.get_key_element().lstrip("+~")
            last.pop(plain_key, None)  # A later one wins, in its place.
            last[plain_key] = override
        for override in last.values():
            if override.is_sweep_override():
                self._add(override)
            else:
                self.fixed.append(str(override.input_line))

    def drawn(self, params: Mapping[str, Any]) -> List[str]:
        """The overrides of a trial with these hyperparameters."""
        return overrides_of(params, self.keys, self.texts)

    def corner(self, at: int, values: Mapping[str, Any]) -> List[str]:
        """The overrides with the first values of all hyperparameters (`at` is 0) or the last (-1), but with `values`."""
        return self.drawn({name: values[name] if name in values else _end(one, at) for name, one in self.space.items()})

    def override(self, name: str, value: Any) -> str:
        """The override that sets a hyperparameter to a value."""
        return overrides_of({name: value}, {name: self.keys[name]}, self.texts)[0]

    def _add(self, override: Override) -> None:
        key = override.get_key_element()
        name = re.sub(r"\W+", "_", key.lstrip("+")).strip("_") or "value"
        while name in self.space:
            name += "_"
        try:
            self.space[name] = self._distribution(name, override)
        except (TypeError, ValueError) as error:
            raise ValueError("{}: {}".format(override.input_line, error)) from error
        self.keys[name] = key

    def _distribution(self, name: str, override: Override) -> Dict[str, Any]:
        value = override.value()
        if isinstance(value, IntervalSweep):
            return _interval(value)
        if isinstance(value, RangeSweep) and not value.shuffle:
            whole = all(isinstance(part, int) for part in (value.start, value.stop, value.step))
            if whole:
                return _integers(value)
            options = list(_first(override, _MOST_STEPS + 1))
            if len(options) > _MOST_STEPS:
                raise ValueError("a range of real numbers has at most {} values; use interval()".format(_MOST_STEPS))
            return hp.choice(sorted(set(options)), ordered=True)
        pairs = [(_value(option), _element(option)) for option in override.sweep_iterator(Transformer.identity)]
        if getattr(value, "shuffle", False):
            pairs.sort(key=lambda pair: pair[1])  # The same command is the same space.
        texts = list(dict.fromkeys(text for _, text in pairs))
        if not texts:
            raise ValueError("there is nothing to choose from")
        by_text = {text: option for option, text in pairs}
        options = [by_text[text] for text in texts]
        if any(one == other for at, one in enumerate(options) for other in options[:at]):
            options = list(texts)  # As 1 and 1.0: they differ as texts only.
        self.texts[name] = [[option, text] for option, text in zip(options, texts)]
        return hp.choice(options)


def overrides_of(params: Mapping[str, Any], keys: Mapping[str, str],
                 texts: Mapping[str, Sequence[Sequence[Any]]]) -> List[str]:
    """Hyperparameters of a trial as overrides."""
    return ["{}={}".format(key, _text(params[name], texts.get(name, ()))) for name, key in keys.items()]


def _text(value: Any, known: Sequence[Sequence[Any]]) -> str:
    for option, text in known:
        if type(option) is type(value) and option == value:
            return str(text)
    return json.dumps(value)


def _element(option: Any) -> str:
    return json.dumps(option) if isinstance(option, bool) else str(Transformer.str(option))


def _value(option: Any) -> Any:
    """An option as a value of hpsearch; what has no value of its own there is its text."""
    if isinstance(option, QuotedString):
        return option.text
    if isinstance(option, float) and (option != option or option in (float("inf"), -float("inf"))):
        return str(option)
    return option if option is None or isinstance(option, (bool, int, float, str)) else str(Transformer.str(option))


def _first(override: Override, count: int) -> Any:
    for at, option in enumerate(override.sweep_iterator(Transformer.identity)):
        if at == count:
            return
        yield option


def _interval(value: IntervalSweep) -> Dict[str, Any]:
    low, high = value.start, value.end
    if low == high:
        return hp.choice([low])
    logarithmic = "log" in value.tags
    if isinstance(low, int) and isinstance(high, int):
        return hp.int(low, high, log=logarithmic)
    assert low is not None and high is not None
    return hp.loguniform(float(low), float(high)) if logarithmic else hp.uniform(float(low), float(high))


def _integers(value: RangeSweep) -> Dict[str, Any]:
    assert value.start is not None and value.stop is not None
    steps = range(int(value.start), int(value.stop), int(value.step))
    if not steps:
        raise ValueError("the range is empty")
    if len(steps) == 1:
        return hp.choice([steps[0]])
    low, high = sorted((steps[0], steps[-1]))
    step = abs(steps.step)
    return hp.int(low, high, step=step if step > 1 else None)


def _end(distribution: Mapping[str, Any], at: int) -> Any:
    if distribution["type"] == "categorical":
        return distribution["vals"][at]
    return distribution["maxval" if at else "minval"]
