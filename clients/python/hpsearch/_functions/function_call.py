"""How a function of hpsearch.tune() is called: what each of its parameters gets."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence


class FunctionCall:
    """A function with its arguments, which is called once for each trial."""

    def __init__(self, function: Any, passes: Mapping[str, str], positional: Sequence[str], arguments: Mapping[str, Any],
                 optuna_space: Optional[Mapping[str, Any]], smaller_is_better: bool) -> None:
        """`optuna_space` is the space of an objective of Optuna, which may ask for the direction; None for other functions."""
        self._function = function
        self._passes = passes
        self._positional = positional
        self._arguments = arguments
        self._optuna_space = optuna_space
        self._smaller_is_better = smaller_is_better

    def call(self, trial: Any) -> Any:
        """Calls it for a trial, and returns what it returns."""
        if self._optuna_space is not None:
            from ..optuna._objective import run_objective
            return run_objective(self._call, trial, self._optuna_space, self._smaller_is_better)
        return self._call(trial)

    def _call(self, trial: Any) -> Any:
        given: List[Any] = []
        named: Dict[str, Any] = {}
        for name, source in self._passes.items():
            if source == "param" and name not in trial:
                continue  # A condition does not hold, and the parameter has a default.
            value = trial if source == "trial" else trial[name] if source == "param" else self._arguments[name]
            if name in self._positional:
                given.append(value)
            else:
                named[name] = value
        try:
            return self._function(*given, **named)
        except TypeError as error:
            self._name_taker_of_trial(error, trial)
            raise

    def _name_taker_of_trial(self, error: TypeError, trial: Any) -> None:
        """A parameter that no hyperparameter is named like gets the trial; with a misspelled name, the function computes with it."""
        takers = [name for name, source in self._passes.items() if source == "trial" and name != "trial"]
        if takers and type(trial).__name__ in str(error):
            error.args = ("{}. The parameter {} gets the trial, because the space has no {}".format(
                error, takers[0], takers[0]),)


class Objective:
    """A function as tune() gets it, taken apart: `function`, its `arguments`, and the `optuna_space` of an objective of Optuna."""

    def __init__(self, function: Any, space: Sequence[str], arguments: Mapping[str, Any]) -> None:
        """TypeError: it cannot be called with these hyperparameters and arguments."""
        self.optuna_space: Optional[Mapping[str, Any]] = None
        if type(function).__module__ == "hpsearch.optuna._objective":
            function, self.optuna_space, space = function.function, function.space, []
        while isinstance(function, functools.partial) and not function.args:
            function, arguments = function.func, dict(function.keywords, **arguments)
        self.function: Any = function
        self.arguments = arguments
        self.passes = passes_of(function, space, arguments)
        self.positional = _positional(function)

    def in_this_process(self, smaller_is_better: bool) -> FunctionCall:
        """To be called with the values as they are."""
        return FunctionCall(self.function, self.passes, self.positional, self.arguments, self.optuna_space, smaller_is_better)


def passes_of(function: Callable[..., Any], space: Sequence[str], arguments: Mapping[str, Any]) -> Dict[str, str]:
    """What each parameter of the function gets: "trial", "param" or "argument".

    A parameter `trial`, or the only one that is neither a hyperparameter nor an argument, gets the trial. TypeError:
    something is left over.
    """
    both = set(space) & set(arguments)
    if both:
        raise TypeError("{} is a hyperparameter and an argument; rename one of them".format(", ".join(sorted(both))))
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = [inspect.Parameter("trial", inspect.Parameter.POSITIONAL_ONLY)]
    passes: Dict[str, str] = {}
    unknown: List[str] = []
    takes_any = False
    for parameter in parameters:
        name = parameter.name
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            takes_any = True
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        elif name == "trial":
            passes[name] = "trial"
        elif name in space or name in arguments:
            passes[name] = "param" if name in space else "argument"
        elif parameter.default is inspect.Parameter.empty:
            unknown.append(name)
    if unknown and ("trial" in passes or len(unknown) > 1):
        raise TypeError("{} takes {}, which is neither a hyperparameter ({}) nor in arguments=".format(
            name_of(function), ", ".join(unknown), ", ".join(space)))
    for name in unknown:
        passes[name] = "trial"
    if takes_any:
        passes.update({name: "param" for name in space if name not in passes})
    missing = [name for name in arguments if name not in passes and not takes_any]
    if missing:
        raise TypeError("{} takes no argument {}".format(name_of(function), ", ".join(missing)))
    passes.update({name: "argument" for name in arguments if name not in passes})
    return passes


def _positional(function: Any) -> List[str]:
    """Parameters that cannot be given by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["trial"]
    return [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_ONLY]


def name_of(function: Any) -> str:
    """As people know it."""
    return str(getattr(function, "__name__", type(function).__name__))
