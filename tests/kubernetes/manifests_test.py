"""The manifests and the chart: every release of Kubernetes from 1.30 to 1.37 takes them, and they agree with themselves and with
the programs.

    manifests_test.py    in a Python with kubernetes-validate (scripts/setup test); else the schemas are not compared
"""

import json
import pathlib
import sys
import unittest

import yaml

import manifests

try:
    import jsonschema
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

RELEASES = [f"1.{minor}" for minor in range(30, 38)]
DAEMON_ROLE = {("batch", "jobs", ("create", "delete", "get", "list", "watch")), ("", "pods", ("get", "list", "watch")),
               ("", "pods/log", ("get",)), ("", "secrets", ("create", "delete")), ("", "events", ("list",))}


def all_objects():
    return [one for name in manifests.RENDERED for one in manifests.committed(name)]


def pods_of(objects):
    for one in objects:
        if one["kind"] in ("StatefulSet", "Job"):
            yield one["spec"]["template"]["spec"], one["spec"]["template"]["metadata"]["labels"]
        if one["kind"] == "Pod":
            yield one["spec"], one["metadata"]["labels"]


@unittest.skipIf(kubernetes_validate is None, "no kubernetes-validate here (scripts/setup test)")
class SchemaCase(unittest.TestCase):
    def judge(self, objects, which):
        self.assertGreater(len(objects), 0, which)
        for release in RELEASES:
            for one in objects:
                with self.subTest(which=which, release=release, kind=one["kind"], name=one["metadata"]["name"]):
                    self.assertEqual(kubernetes_validate.validate(one, release, strict=True), release)


class Schemas(SchemaCase):
    def test_every_release_takes_the_manifests(self):
        for name in manifests.RENDERED:
            self.judge(manifests.committed(name), name)

    def test_defaults_are_as_their_schema_says(self):
        schema = json.loads((manifests.CHART / "values.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        values = yaml.safe_load((manifests.CHART / "values.yaml").read_text())
        jsonschema.validate(values, schema)
        values["daemon"]["storage"]["sise"] = "1Gi"
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(values, schema)


class Manifests(unittest.TestCase):
    def test_pods_have_no_more_rights_than_they_need(self):
        for spec, labels in pods_of(all_objects()):
            with self.subTest(labels=labels):
                pod = spec["securityContext"]
                self.assertTrue(pod["runAsNonRoot"])
                self.assertNotEqual(pod["runAsUser"], 0)
                self.assertEqual(pod["seccompProfile"], {"type": "RuntimeDefault"})
                # The kubelet adds the group to the modes of all files otherwise; the programs refuse such keys.
                self.assertEqual(pod["fsGroupChangePolicy"], "OnRootMismatch")
                # "hpsearch" as the name of a Service would become variables HPSEARCH_….
                self.assertIs(spec["enableServiceLinks"], False)
                is_daemon = labels["app.kubernetes.io/component"] == "daemon"
                self.assertIs(spec["automountServiceAccountToken"], is_daemon)
                for container in spec["containers"]:
                    self.assertEqual(container["securityContext"],
                                     {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                      "capabilities": {"drop": ["ALL"]}})

    def test_volumes_ports_and_selectors_fit_together(self):
        objects = all_objects()
        labels = [found for _, found in pods_of(objects)]
        for spec, _ in pods_of(objects):
            volumes = {one["name"] for one in spec.get("volumes", [])} | {"state"}
            for container in spec["containers"]:
                self.assertLessEqual({one["name"] for one in container["volumeMounts"]}, volumes)
        ports = {port["name"] for spec, _ in pods_of(objects) for port in spec["containers"][0].get("ports", [])}
        for one in objects:
            if one["kind"] == "Service":
                self.assertTrue(any(one["spec"]["selector"].items() <= found.items() for found in labels))
                self.assertEqual({port["targetPort"] for port in one["spec"]["ports"]}, ports)
                self.assertEqual({port["port"] for port in one["spec"]["ports"]}, {8077, 8078})
            if one["kind"] == "NetworkPolicy":
                self.assertTrue(any(one["spec"]["podSelector"]["matchLabels"].items() <= found.items() for found in labels))
                self.assertEqual({port["port"] for rule in one["spec"]["ingress"] for port in rule["ports"]}, ports)

    def test_the_role_is_what_queues_need(self):
        role = next(one for one in all_objects() if one["kind"] == "Role")
        rules = {(group, resource, tuple(sorted(rule["verbs"]))) for rule in role["rules"] for group in rule["apiGroups"]
                 for resource in rule["resources"]}
        self.assertEqual(rules, DAEMON_ROLE)

    def test_probes_ask_routes_that_need_no_token(self):
        routes = json.loads((manifests.ROOT / "docs" / "openapi.json").read_text())["paths"]
        daemon = next(one for one in all_objects() if one["kind"] == "StatefulSet")["spec"]["template"]["spec"]["containers"][0]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.assertIn(daemon[probe]["httpGet"]["path"], routes)
        self.assertEqual(daemon["livenessProbe"]["failureThreshold"], 30)

    def test_nothing_secret_is_in_manifests(self):
        self.assertEqual([one for one in all_objects() if one["kind"] == "Secret"], [])

    def test_the_chart_stays_small(self):
        self.assertLessEqual(len([path for path in (manifests.CHART / "templates").rglob("*") if path.is_file()]), 12)


if __name__ == "__main__":
    unittest.main()
