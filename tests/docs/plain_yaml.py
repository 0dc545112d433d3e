"""YAML as the program reads it: 1.2, with underscores in numbers. PyYAML's own is 1.1, where `1e-4` is a text and `yes` true."""

import re

import yaml


class Loader(yaml.SafeLoader):
    """Knows null, true, false and numbers; keys are always texts."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern in (("null", r"~|null|Null|NULL|"), ("bool", r"true|True|TRUE|false|False|FALSE"),
                     ("int", r"[-+]?[0-9]+(_[0-9]+)*|0x[0-9a-fA-F]+|0o[0-7]+"),
                     ("float", r"[-+]?([0-9]+(_[0-9]+)*)?\.?[0-9]*([eE][-+]?[0-9]+)?")):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), None)


def construct_integer(loader, node):
    return int(node.value.replace("_", ""), 0 if node.value.startswith(("0x", "0o")) else 10)


def construct_real(loader, node):
    try:
        return float(node.value.replace("_", ""))
    except ValueError:  # The pattern is a little wider than numbers are.
        return node.value


def construct_map(loader, node):
    return {key.value: loader.construct_object(value, deep=True) for key, value in node.value}


Loader.add_constructor("tag:yaml.org,2002:int", construct_integer)
Loader.add_constructor("tag:yaml.org,2002:float", construct_real)
Loader.add_constructor("tag:yaml.org,2002:map", construct_map)


def load(text):
    return yaml.load(text, Loader)
