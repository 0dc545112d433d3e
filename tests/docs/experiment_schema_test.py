"""docs/experiment-file.schema.json and docs/experiment-file.md know what the program knows: every field, searcher, choice and
default, no more and no less. What the program knows it is asked: of an unknown field it says which there are."""

import copy
import json
import re
import unittest

import jsonschema

import experiment_page
import experiment_program
import plain_yaml
from experiment_program import ROOT, UNKNOWN
from experiment_schema import SCHEMA, at, is_valid, resolved
from experiment_sections import COMPONENT_SECTIONS, HYPERPARAMETERS, RANDOM, SEARCHERS, SECTIONS, SINGLE
from experiment_verdicts import RIGHT, WRONG

PAGE = (ROOT / "docs" / "experiment-file.md").read_text()
COMPONENTS = (ROOT / "docs" / "components.md").read_text()

# Shown for what the program says of them.
WRONG_ON_PURPOSE = set()


def choices(field):
    """Its enum, or that of one of its forms, without null."""
    field = resolved(field)
    for form in (field, *field.get("anyOf", ())):
        if "enum" in form:
            return {choice for choice in form["enum"] if choice is not None}
    return set()


def every(node):
    """All maps in the schema."""
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from every(inner)


class Schema(unittest.TestCase):
    def test_is_one_of_draft_7(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)
        self.assertEqual(SCHEMA["$schema"], "http://json-schema.org/draft-07/schema#")

    def test_defines_what_it_uses_and_uses_what_it_defines(self):
        used = {node["$ref"] for node in every(SCHEMA) if isinstance(node.get("$ref"), str)}
        definitions = {ref for ref in used if re.fullmatch("#/definitions/[^/]*", ref)}
        self.assertEqual(definitions, {f"#/definitions/{name}" for name in SCHEMA["definitions"]})
        for ref in used:
            at(ref.removeprefix("#/"))

    def test_describes_every_field(self):
        for section in (*SECTIONS, *COMPONENT_SECTIONS):
            for name, field in at(section.schema)["properties"].items():
                with self.subTest(section=section.name, field=name):
                    said = resolved(field)
                    self.assertTrue(said.get("description") or "const" in said or name == "type", "no description")


class Files(unittest.TestCase):
    """What the documentation shows is right."""

    def test_examples(self):
        files = sorted(path for path in (ROOT / "examples").rglob("*.yaml"))
        experiments = [path for path in files if "searcher" in plain_yaml.load(path.read_text())]
        self.assertGreater(len(experiments), 5)
        for path in experiments:
            with self.subTest(path=str(path.relative_to(ROOT))):
                jsonschema.validate(plain_yaml.load(path.read_text()), SCHEMA, jsonschema.Draft7Validator)
                self.assertNotIn("error", experiment_program.answer(path))

    def test_components(self):
        for path in sorted((ROOT / "examples").rglob("experiment.yaml")):
            experiment = plain_yaml.load(path.read_text())
            if "component" in experiment:
                with self.subTest(path=str(path.relative_to(ROOT))):
                    component = plain_yaml.load((path.parent / experiment["component"]).read_text())
                    self.assertTrue(is_valid(experiment | {"component": component}))

    def pages(self):
        for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
            for name, block in experiment_page.blocks(path.read_text()):
                yield str(path.relative_to(ROOT)), name, block

    def test_experiments_of_pages(self):
        seen = 0
        for page, name, block in self.pages():
            if not block or "searcher" not in block or not {"entrypoint", "component"} & set(block):
                continue
            seen += 1
            with self.subTest(page=page, name=name):
                right = (page, name) not in WRONG_ON_PURPOSE
                self.assertEqual(is_valid(block), right)
                if "component" not in block and "prior" not in block["searcher"]:  # Their files are not there.
                    self.assertEqual(not experiment_program.problems(block), right)
        self.assertGreater(seen, 10)

    def test_parts_of_experiments_on_pages(self):
        """They lack what is required, but nothing else is wrong with them."""
        schema = copy.deepcopy(SCHEMA)
        for part in (schema, schema["definitions"]["searcher"]):
            del part["required"]
        del schema["anyOf"]
        seen = 0
        for page, name, block in self.pages():
            is_component = bool(block) and "parameters" in block
            is_whole = bool(block) and "searcher" in block and {"entrypoint", "component"} & set(block)
            # Files of hpsearch alloc apply, Katib, hpsearchd --notify and --sign-in-file; hpsearchd.yaml; values of the chart.
            is_other = bool(block) and {"queues", "apiVersion", "receivers", "provider"} & set(block) or name.endswith("hpsearchd.yaml") or name == "values.yaml"
            if block and not is_whole and not is_component and not is_other:
                seen += 1
                with self.subTest(page=page, name=name):
                    jsonschema.validate(block, schema, jsonschema.Draft7Validator)
        self.assertGreater(seen, 5)


class Verdicts(unittest.TestCase):
    """Schema and program take the same experiments."""

    def test_right_ones(self):
        for name, experiment in RIGHT.items():
            with self.subTest(name):
                jsonschema.validate(experiment, SCHEMA, jsonschema.Draft7Validator)
                self.assertEqual(experiment_program.problems(experiment), [])

    def test_wrong_ones(self):
        for name, experiment in WRONG.items():
            with self.subTest(name):
                self.assertFalse(is_valid(experiment), "the schema takes it")
                self.assertNotEqual(experiment_program.problems(experiment), [], "the program takes it")

class Fields(unittest.TestCase):
    """Schema, page and program know the same fields."""

    def known(self, section):
        """The fields that the program lists, and the other spellings that it takes."""
        known = experiment_program.allowed_at(section.experiment(**{UNKNOWN: 1}), section.path(UNKNOWN))
        if section in HYPERPARAMETERS:
            known.add("type")
        for other in section.others:
            self.assertNotIn(other, known, "it is no other spelling any more")
        return known | set(section.others)

    def properties(self, section):
        """Fields of a section in the schema; the type of a storage stands beside its types."""
        for field, said in at(section.schema)["properties"].items():
            if field == "type" and section.place == ("checkpoint_storage",):
                said = at("definitions/checkpoint_storage/properties/type")
            yield field, said

    def test_of_sections(self):
        for section in SECTIONS:
            with self.subTest(section.name):
                known = self.known(section)
                self.assertEqual(set(at(section.schema)["properties"]), known, "in the schema, in the program")
                on_page = set(experiment_page.fields(PAGE, *section.headings))
                # The table of types stands above those of the types.
                self.assertEqual(on_page | ({"type"} if section in HYPERPARAMETERS else set()), known, "on the page, in the program")

    def test_other_spellings_are_taken(self):
        """They are not listed, so each is tried."""
        self.assertEqual(experiment_program.effective(SINGLE | {"resource": {"priority": 3}})["resources"]["priority"], 3)
        self.assertEqual(experiment_program.effective(SINGLE | {"resources": {"slots": 3}})["resources"]["slots_per_trial"], 3)
        auth = SINGLE | {"environment": {"registrt_auth": {"a": 1}}}
        self.assertIn("registry_auth", experiment_program.effective(auth)["environment"])
        choice = RANDOM | {"hyperparameters": {"h": {"type": "categorical", "val": [1]}}}
        self.assertEqual(experiment_program.effective(choice)["hyperparameters"]["h"]["vals"], [1])

    def test_of_components(self):
        on_page = " ".join(row["field"] + row["meaning"] for row in experiment_page.tables(COMPONENTS)["Fields"])
        words = {part for name in experiment_page.names_in(on_page) for part in name.strip("{}").replace(", ", ".").split(".")}
        for section in COMPONENT_SECTIONS:
            with self.subTest(section.name):
                known = self.known(section)
                self.assertEqual(set(at(section.schema)["properties"]), known, "in the schema, in the program")
                self.assertLessEqual(known, words, "in docs/components.md")

    def test_of_declared_hyperparameters(self):
        parameters = {"i": {"type": "Int", "range": {"min": 1, "max": 9}}, "f": {"type": "Float", "range": {"min": 1, "max": 9}},
                      "b": {"type": "Bool"}, "e": {"type": "String", "enum": ["x", "y"]}}
        experiment = {"component": {"name": "c", "entrypoint": "x", "parameters": parameters}, "searcher": RANDOM["searcher"],
                      "hyperparameters": {name: {"type": "declared", UNKNOWN: 1} for name in parameters}}
        known = {"type"}
        for name in parameters:
            known |= experiment_program.allowed_at(experiment, f"hyperparameters.{name}.{UNKNOWN}")
        self.assertEqual(set(at("definitions/declared")["properties"]), known)
        self.assertEqual(set(experiment_page.fields(PAGE, "declared")) | {"type"}, known)

    def test_of_each_searcher(self):
        """Which of them mean something to it, and which it needs."""
        rows = experiment_page.fields(PAGE, "searcher")
        some = {"max_trials": 3, "max_concurrent_trials": 1, "num_rungs": 2, "mode": "standard", "divisor": 3, "max_rungs": 2,
                "bracket_rungs": [1], "stop_once": True, "points_to_evaluate": [], "on_duplicate": "allow",
                "repeats": 2, "finalists": 2, "sampler": "anneal", "anneal": {}, "model": {}, "tpe": {}, "prior": [],
                "stopping": {"rule": "median"}, "stop_diverged": True}
        for section in SEARCHERS:
            for field in at(section.schema)["properties"]:
                with self.subTest(searcher=section.name, field=field):
                    experiment = section.experiment(**({field: some[field]} if field in some else {}))
                    means_something = not experiment_program.problems(experiment)
                    self.assertEqual(is_valid(experiment), means_something, "in the schema, in the program")
                    of = experiment_page.names_in(rows[field]["of"])
                    self.assertEqual(section.name in of or rows[field]["of"] == "all", means_something, "on the page")
                    without = section.experiment(**{field: None})
                    needed = any(problem["what"] == "is missing" for problem in experiment_program.problems(without))
                    self.assertEqual(not is_valid(without), needed, "needed by the schema, by the program")
                    if needed:
                        self.assertEqual(rows[field]["default"], "required")

    def test_names_of_searchers(self):
        known = experiment_program.allowed_at(SINGLE | {"searcher": SINGLE["searcher"] | {"name": UNKNOWN}}, "searcher.name")
        self.assertEqual(choices(at("definitions/searcher/properties/name")), known)
        self.assertEqual({section.name for section in SEARCHERS}, known)

    def test_types_of_hyperparameters(self):
        known = experiment_program.allowed_at(RANDOM | {"hyperparameters": {"h": {"type": UNKNOWN, "minval": 0}}}, "hyperparameters.h.type")
        self.assertEqual({section.name for section in HYPERPARAMETERS}, known)
        self.assertEqual(choices(at("definitions/hyperparameter/then/properties/type")), known | {"declared"})

    def test_choices(self):
        """Every field with an enum: the program lists the same, and the page's row names each."""
        seen = set()
        for section in (*SECTIONS, *COMPONENT_SECTIONS):
            rows = experiment_page.fields(PAGE, *section.headings)
            for field, said in self.properties(section):
                allowed = choices(said)
                # A searcher that does not have the field says that instead.
                if not allowed or (section in SEARCHERS and not is_valid(section.experiment(**{field: min(allowed)}))):
                    continue
                seen.add(field)
                with self.subTest(section=section.name, field=field):
                    known = experiment_program.allowed_at(section.experiment(**{field: UNKNOWN}), section.path(field))
                    if field == "mode":
                        known.add("agressive")  # Taken, and not advised.
                    if field != "name":
                        self.assertEqual(allowed, known)
                    row = rows.get(field)
                    if row and row["meaning"] != "as of `const`":
                        self.assertLessEqual(allowed, set(experiment_page.names_in(" ".join(row.values()))), "on the page")
        self.assertGreater(len(seen), 12)

    def test_defaults(self):
        """Those of the schema are the program's and the page's."""
        seen = 0
        for section in SECTIONS:
            rows = experiment_page.fields(PAGE, *section.headings)
            effective = section.inside(experiment_program.effective(section.within))
            for field, said in self.properties(section):
                said = resolved(said)
                if "default" not in said:
                    continue
                with self.subTest(section=section.name, field=field):
                    text = said["default"] if isinstance(said["default"], str) and said["default"] else json.dumps(said["default"])
                    if said.get("title") != "a length of time":  # The page has its unit, too.
                        self.assertTrue(rows[field]["default"].startswith(f"`{text}`"), f"the page has {rows[field]['default']}")
                    if field in effective and field not in section.inside(section.within):
                        seen += 1
                        self.assertEqual(effective[field], said["default"])
        self.assertGreater(seen, 30)

    def test_what_is_required(self):
        for section in SECTIONS:
            with self.subTest(section.name):
                rows = experiment_page.fields(PAGE, *section.headings)
                on_page = {field for field, row in rows.items() if row["default"].split(",")[0] == "required"}
                self.assertEqual(on_page, set(at(section.schema).get("required", ())) | set(section.also_required))


if __name__ == "__main__":
    unittest.main()
