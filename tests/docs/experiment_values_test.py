"""Schema and program take the same values: every field of every section with all kinds of them."""

import unittest

import experiment_program
from experiment_schema import at, is_valid
from experiment_sections import COMPONENT_SECTIONS, SECTIONS

SAMPLES = [None, True, 0, 1, -1, 1.5, "", "x", "yes", "/a", "../b", "1h 30m", [], ["x"], [1], {}, {"x": 1}, {"x": "/y"}]

# A field of a section, and why the two need not agree on all samples.
ONLY_THE_PROGRAM_KNOWS = {
    ("the top", "component"): "whether the file is there",
    ("the top", "where"): "whether it is a condition",
    ("the top", "metrics"): "whether a pattern has a group",
    ("the top", "min_checkpoint_period"): "whether units convert",
    ("the top", "min_validation_period"): "whether units convert",
    ("environment", "preload"): "whether the program is a function of hpsearch.tune",
    ("adaptive_asha", "prior"): "whether there are such searches",
    ("async_halving", "prior"): "whether there are such searches",
    ("const", "when"): "whether there are such hyperparameters",
    ("int", "when"): "whether there are such hyperparameters",
    ("double", "when"): "whether there are such hyperparameters",
    ("log", "when"): "whether there are such hyperparameters",
    ("categorical", "when"): "whether there are such hyperparameters",
    ("a component", "boot_file"): "that there is an entrypoint too",
    ("a component", "entrypoint"): "that nobody else has one",
    ("a component", "metrics"): "whether a pattern has a group",
    ("a component's parameter", "default"): "whether it is of the type",
    ("a component's parameter", "enum"): "whether they are of the type",
    ("a component's parameter", "required"): "whether the experiment gives it",
    ("a component's input", "required"): "whether the experiment gives it",
    ("a component's output", "required"): "whether the experiment gives it",
    ("a component's output", "pre_download"): "whether it has a path",
}


class Values(unittest.TestCase):
    def test_every_field_with_all_kinds_of_values(self):
        needed = set()
        for section in (*SECTIONS, *COMPONENT_SECTIONS):
            if section.name in ("grid", "random"):
                continue  # They have no field that none of the others has.
            for field in at(section.schema)["properties"]:
                for sample in SAMPLES:
                    experiment = section.experiment(**{field: sample})
                    problems = experiment_program.problems(experiment)
                    if is_valid(experiment) == (not problems):
                        continue
                    if (section.name, field) in ONLY_THE_PROGRAM_KNOWS and problems:
                        needed.add((section.name, field))
                        continue
                    with self.subTest(section=section.name, field=field, value=sample):
                        self.fail(f"the schema says {is_valid(experiment)}, the program {problems}")
        self.assertEqual(needed, set(ONLY_THE_PROGRAM_KNOWS), "what is not needed any more is to go")


if __name__ == "__main__":
    unittest.main()
