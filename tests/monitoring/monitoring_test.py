"""The alerts and the dashboard in deploy/: Prometheus' own tool accepts and runs them, they use metrics that the daemon has,
and docs/operating/alerts.md says what to do about each alert."""

import collections
import pathlib
import re
import subprocess
import tempfile
import unittest

import prometheus
import yaml

PAGE = prometheus.ROOT / "docs" / "operating" / "alerts.md"
UNIT_TESTS = pathlib.Path(__file__).with_name("rules_test.yml")
PROMTOOL = prometheus.program("promtool")
# Names that Prometheus itself adds.
ADDED_LABELS = {"job", "instance", "le"}
NAME = re.compile(r"\b(?:hpsearch|process)_\w+|\bup\b")


def rules():
    groups = yaml.safe_load(prometheus.RULES.read_text())["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def problems_of(expression):
    """Names and labels of an expression that the daemon doesn't have."""
    families, problems = prometheus.described(), []
    for match in NAME.finditer(re.sub(r'"[^"]*"', '""', expression)):
        name = match.group()
        base = re.sub("_(bucket|sum|count)$", "", name)
        is_part = base != name and families.get(base, ("",))[0] == "histogram"
        family = families.get(base if is_part else name)
        if name == "up":
            family = ("gauge", set())
        if family is None:
            problems.append(f"no metric {name}")
            continue
        if family[0] == "histogram" and not is_part:
            problems.append(f"{name} is a histogram")
        selector = re.match(r"\{([^}]*)\}", re.sub(r'"[^"]*"', '""', expression)[match.end():])
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector.group(1) if selector else ""):
            if label not in family[1] | ADDED_LABELS:
                problems.append(f"{name} has no label {label}")
    return problems


class Alerts(unittest.TestCase):
    def run_promtool(self, *words):
        done = subprocess.run([PROMTOOL, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipIf(PROMTOOL is None, "no promtool (scripts/setup test)")
    def test_promtool_accepts_the_rules(self):
        self.run_promtool("check", "rules", prometheus.RULES)

    @unittest.skipIf(PROMTOOL is None, "no promtool (scripts/setup test)")
    def test_each_alert_fires_and_clears(self):
        self.run_promtool("test", "rules", UNIT_TESTS)

    def test_each_alert_has_a_unit_test_that_sees_it_quiet_firing_and_cleared(self):
        seen = collections.defaultdict(list)
        for one in yaml.safe_load(UNIT_TESTS.read_text())["tests"]:
            for check in one["alert_rule_test"]:
                seen[check["alertname"]].append(bool(check["exp_alerts"]))
        self.assertEqual(dict(seen), {name: [False, True, False] for name in rules()})

    def test_each_alert_has_its_section_and_each_section_its_alert(self):
        self.assertEqual(sorted(re.findall(r"^### (\w+)$", PAGE.read_text(), re.MULTILINE)), sorted(rules()))

    def test_expressions_use_metrics_that_the_daemon_has(self):
        for name, rule in rules().items():
            self.assertEqual(problems_of(rule["expr"]), [], name)

    def test_each_alert_has_a_known_severity_and_a_summary(self):
        for name, rule in rules().items():
            self.assertIn(rule["labels"]["severity"], ("critical", "warning", "info"), name)
            self.assertTrue(rule["annotations"]["summary"], name)

    def test_a_wrong_name_and_a_wrong_label_are_found(self):
        self.assertEqual(problems_of('hpsearch_slotz{instance="a"} > 0'), ["no metric hpsearch_slotz"])
        self.assertEqual(problems_of('sum(hpsearch_slots{colour="red"})'), ["hpsearch_slots has no label colour"])
        self.assertEqual(problems_of("hpsearch_store_commit_seconds > 1"), ["hpsearch_store_commit_seconds is a histogram"])


class Dashboard(unittest.TestCase):
    def expressions(self):
        return [(panel["title"], target["expr"]) for panel in prometheus.panels() for target in panel["targets"]]

    def test_expressions_use_metrics_that_the_daemon_has(self):
        for title, expression in self.expressions():
            self.assertEqual(problems_of(expression), [], title)
            self.assertRegex(expression, NAME, title)

    def test_legends_use_labels_that_the_expression_has(self):
        families = prometheus.described()
        for panel in prometheus.panels():
            for target in panel["targets"]:
                kept = re.findall(r"\bby \(([^)]*)\)", target["expr"])
                names = [re.sub("_(bucket|sum|count)$", "", name) if name not in families else name
                         for name in NAME.findall(target["expr"])]
                has = set(re.split(r",\s*", kept[0])) if kept else families[names[0]][1] | ADDED_LABELS
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    self.assertIn(label, has, panel["title"])

    def test_panels_have_ids_of_their_own_and_the_chosen_data_source(self):
        ids = [panel["id"] for panel in prometheus.panels()]
        self.assertEqual(len(ids), len(set(ids)))
        for panel in prometheus.panels():
            for part in (panel, *panel["targets"]):
                self.assertEqual(part["datasource"]["uid"], "${datasource}", panel["title"])

    @unittest.skipIf(PROMTOOL is None, "no promtool (scripts/setup test)")
    def test_promtool_accepts_the_expressions(self):
        recorded = [{"record": f"panel:{number}", "expr": prometheus.without_variables(expression)}
                    for number, (_, expression) in enumerate(self.expressions())]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            yaml.safe_dump({"groups": [{"name": "panels", "rules": recorded}]}, file)
            file.flush()
            done = subprocess.run([PROMTOOL, "check", "rules", file.name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
