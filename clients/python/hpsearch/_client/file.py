"""Experiment files that are submitted: read, and completed where the daemon masks secrets."""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import Any, Dict, Mapping, NamedTuple, Optional, Union

from .._problems import BadRequest, items_of
from .transport import Transport
from .._values import plain

MASK = "********"

Config = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A path of an experiment file, its text, or what it says as a dict."""


class ReadFile(NamedTuple):
    """An experiment to submit."""

    config: Dict[str, Any]
    stem: str  #: Its name, if it has none itself.
    directory: Optional[pathlib.Path]  #: The file's directory; None if there is no file.
    written: Optional[Dict[str, str]] = None  #: Name and text of the file; None if there is no text.


def read_config(transport: Transport, config: Config) -> ReadFile:
    """Reads an experiment. Texts with a line break, or that begin with {, are files; others are paths.

    YAML is read by the daemon, so that both understand it in the same way. BadRequest: it has mistakes; `problems` has
    all of them, with lines.
    """
    if isinstance(config, Mapping):
        return ReadFile(plain(config, ""), "experiment", None)
    text, stem, directory = _text_of(config)
    name = "" if directory is None else pathlib.Path(str(config)).name
    try:
        tree = json.loads(text)
    except ValueError:
        tree = _yaml(transport, text)
    if not isinstance(tree, dict):
        raise BadRequest("the experiment is {!r}; it must be a map".format(text[:60]))
    return ReadFile(tree, stem, directory, {"name": name, "text": text})


def _text_of(config: "Union[str, os.PathLike[str]]") -> "tuple[str, str, Optional[pathlib.Path]]":
    if isinstance(config, str) and ("\n" in config or config.lstrip().startswith("{")):
        return config, "experiment", None
    if not isinstance(config, (str, os.PathLike)):
        raise TypeError("the experiment is a {}; it must be a path, the text of a file, or a dict".format(
            type(config).__name__))
    path = pathlib.Path(config)
    try:
        return path.read_text(encoding="utf-8"), path.stem, path.absolute().parent
    except OSError as error:
        raise BadRequest("the experiment file {} cannot be read: {}".format(path, error.strerror)) from error
    except UnicodeDecodeError as error:
        raise BadRequest("the experiment file {} is not UTF-8: {}".format(path, error)) from error


def _yaml(transport: Transport, text: str) -> Dict[str, Any]:
    answer = transport.ask("POST", "/api/v1/experiments/validate", body=text).json()
    if not answer["valid"]:
        raise BadRequest("the experiment has mistakes", status=400, problems=items_of(answer["problems"]))
    config: Dict[str, Any] = answer["config"]
    if not re.search(r"""^["']?name["']?\s*:""", text, re.MULTILINE):
        config.pop("name", None)  # The daemon filled in a name; the file's is better.
    if MASK in json.dumps(config):
        _put_secrets_in(config, _texts_of(text), "")
    return config


def _put_secrets_in(config: Any, texts: Any, path: str) -> None:
    """The daemon shows no secrets, and this file has them."""
    for name, value in config.items() if isinstance(config, dict) else enumerate(config):
        place = "{}.{}".format(path, name) if path else str(name)
        own = _member(texts, name)
        if value == MASK:
            if not isinstance(own, str):
                raise BadRequest("the value of {} cannot be read from the file; submit the experiment as a dict".format(
                    place))
            config[name] = own
        elif isinstance(value, (dict, list)):
            _put_secrets_in(value, own, place)


def _member(texts: Any, name: Any) -> Any:
    if isinstance(texts, list) and all(isinstance(one, str) and "=" in one for one in texts):
        texts = dict(one.split("=", 1) for one in texts)  # environment_variables as a list of NAME=VALUE.
    try:
        return texts[name]
    except (LookupError, TypeError):
        return None


def _texts_of(text: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise BadRequest("the experiment has environment variables or keys, which the daemon does not return; install "
                         "PyYAML, or submit the experiment as a dict or as JSON") from error
    return yaml.load(text, yaml.BaseLoader)
