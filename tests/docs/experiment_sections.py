"""Every section of an experiment that has fields of its own: where it stands in a file, in the schema and on the page."""

import copy
import dataclasses

SINGLE = {"entrypoint": "x", "searcher": {"name": "single", "metric": "m", "max_length": 1}}
RANDOM = {"entrypoint": "x", "searcher": {"name": "random", "metric": "m", "max_length": 1, "max_trials": 2}}
# Nothing in it that would be asked of the experiment.
COMPONENT = {"name": "c", "entrypoint": "x", "parameters": {"p": {"type": "String"}}, "inputs": {"i": {"required": False}},
             "outputs": {"o": {}}, "launch": {}, "constraints": {}}


@dataclasses.dataclass
class Section:
    """`within` is a valid experiment with the section at `place`; `schema` is where its properties are."""

    name: str
    within: dict
    place: tuple
    schema: str
    headings: tuple
    # Spellings that the program lists only when they are there.
    others: tuple = ()
    # Required, though the schema does not say so of the section alone.
    also_required: tuple = ()

    def path(self, field):
        text = ""
        for key in (*self.place, field):
            text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
        return text

    def inside(self, experiment):
        """What the experiment has in this section."""
        here = experiment
        for key in self.place:
            here = here[key]
        return here

    def experiment(self, **members):
        tree = copy.deepcopy(self.within)
        self.inside(tree).update(members)
        return tree


def hyperparameter(kind, *, others=(), also_required=(), **members):
    within = RANDOM | {"hyperparameters": {"h": {"type": kind} | members}}
    return Section(kind, within, ("hyperparameters", "h"), f"definitions/{kind}", (kind,), others, also_required)


def storage(kind, **members):
    within = SINGLE | {"checkpoint_storage": {"type": kind} | members}
    return Section(kind, within, ("checkpoint_storage",), f"definitions/{kind}", ("checkpoint_storage", kind))


def searcher(kind, **members):
    space = {} if kind == "single" else {"h": {"type": "categorical", "vals": [1, 2]}}
    within = {"entrypoint": "x", "hyperparameters": space, "searcher": {"name": kind, "metric": "m", "max_length": 9} | members}
    return Section(kind, within, ("searcher",), "definitions/searcher", ("searcher",), (), ("max_trials", "num_rungs"))


SEARCHERS = [
    searcher("single"),
    searcher("grid"),
    searcher("random", max_trials=2),
    searcher("async_halving", max_trials=2, num_rungs=2),
    searcher("adaptive_asha", max_trials=2),
]

HYPERPARAMETERS = [
    hyperparameter("const", val=1),
    hyperparameter("int", minval=-5, maxval=5),
    hyperparameter("double", minval=-5, maxval=5),
    hyperparameter("log", minval=-5, maxval=5),
    hyperparameter("categorical", vals=[True, 2], others=("val",), also_required=("vals",)),
]

SECTIONS = [
    Section("the top", SINGLE, (), "", ("At the top", "For the Determined harness", "Without effect"), ("resource",), ("entrypoint",)),
    *SEARCHERS,
    *HYPERPARAMETERS,
    Section("program_traits", SINGLE | {"program_traits": {}}, ("program_traits",), "properties/program_traits", ("program_traits",)),
    Section("resources", SINGLE | {"resources": {}}, ("resources",), "definitions/resources", ("resources",), ("slots",)),
    Section("budget", SINGLE | {"budget": {}}, ("budget",), "properties/budget", ("budget",)),
    storage("shared_fs"),
    storage("s3", bucket="b"),
    storage("gcs", bucket="b"),
    storage("azure", container="c", account_url="https://a.example"),
    Section("environment", SINGLE | {"environment": {}}, ("environment",), "definitions/environment", ("environment",),
            ("registrt_auth",)),
    Section("reproducibility", SINGLE | {"reproducibility": {}}, ("reproducibility",), "properties/reproducibility",
            ("reproducibility",)),
    Section("an input", SINGLE | {"inputs": {"i": {"path": "/a"}}}, ("inputs", "i"), "properties/inputs/additionalProperties/anyOf/1", ("inputs",)),
    Section("an output", SINGLE | {"outputs": {"o": {"path": "/a"}}}, ("outputs", "o"), "properties/outputs/additionalProperties/anyOf/1", ("outputs",)),
    Section("pai", SINGLE | {"pai": {}}, ("pai",), "properties/pai", ("pai",)),
    Section("launch", SINGLE | {"launch": {}}, ("launch",), "properties/launch", ("launch",)),
    Section("launch.roles", SINGLE | {"launch": {"kind": "tensorflow", "roles": {}}, "resources": {"slots_per_trial": 9}},
            ("launch", "roles"), "properties/launch/properties/roles", ("launch.roles",)),
    Section("a bind mount", SINGLE | {"bind_mounts": [{"host_path": "/a", "container_path": "/b"}]}, ("bind_mounts", 0),
            "properties/bind_mounts/items", ("bind_mounts",)),
]


def component(name, place, schema):
    return Section(name, {"component": COMPONENT, "searcher": SINGLE["searcher"]}, ("component", *place), schema, ())


# Their fields stand in docs/components.md.
COMPONENT_SECTIONS = [
    component("a component", (), "definitions/component"),
    component("a component's parameter", ("parameters", "p"), "definitions/component_parameter"),
    component("a component's input", ("inputs", "i"), "definitions/component_input"),
    component("a component's output", ("outputs", "o"), "definitions/component_output"),
    component("a component's launch", ("launch",), "definitions/component/properties/launch"),
    component("a component's constraints", ("constraints",), "definitions/component/properties/constraints"),
    Section("a parameter's range", {"component": COMPONENT | {"parameters": {"p": {"type": "String", "range": {}}}},
                                    "searcher": SINGLE["searcher"]},
            ("component", "parameters", "p", "range"), "definitions/component_parameter/properties/range", ()),
]
