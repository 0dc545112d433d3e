"""The chart, with the genuine helm: the manifests are rendered from it, and what its values make works. Skipped as a whole without
helm (scripts/setup kubernetes)."""

import subprocess
import unittest

import manifests
import manifests_test
import pod_process
import programs_test
from programs_test import HOSTS, harness

IN_POSTGRESQL = ["--set", "daemon.store.postgresql.url=postgresql://hpsearch@db.example.org/hpsearch",
                 "--set", "daemon.store.postgresql.passwordSecret=database,daemon.store.postgresql.keySecret=store-key"]
TWO_DAEMONS = [*IN_POSTGRESQL, "--set", "daemon.replicas=2,daemon.blobs.claim=files"]

# Values → what they are for. Each is rendered and compared with the schemas, where helm is.
VARIANTS = {
    "all": ["--set", "tls.secretName=tls,checkpoints.claim=shared,workers.static.replicas=3,test.secretName=test",
            "--set", "image.pullSecrets[0].name=registry,daemon.nodeSelector.pool=cpu,daemon.storage.className=fast",
            "--set", "workers.static.tolerations[0].operator=Exists,service.annotations.a=b",
            "--set", "workers.static.resources.limits.nvidia\\.com/gpu=4,daemon.arguments={--lost-after=120}"],
    "no policy": ["--set", "networkPolicy.enabled=false,service.type=LoadBalancer"],
    "two daemons": TWO_DAEMONS,
    "two daemons with a budget": [*TWO_DAEMONS, "--set", "daemon.disruptionBudget=true"],
    "one daemon in PostgreSQL": IN_POSTGRESQL,
}


@unittest.skipIf(manifests.helm() is None, "no helm here (scripts/setup kubernetes)")
class Chart(manifests_test.SchemaCase):
    def test_the_manifests_are_rendered_from_it(self):
        self.assertEqual(manifests.stale(), [], "python3 tests/kubernetes/manifests.py --write")

    def test_every_release_takes_what_values_make(self):
        for name, options in VARIANTS.items():
            self.judge(manifests.objects_in(manifests.render(*options)), name)

    def test_unknown_and_wrong_values_are_refused(self):
        for wrong in ("daemon.storrage.size=1Gi", "workers.static.replicas=-1", "user=0", "daemon.replicas=0",
                      "daemon.store.postgresql.url=mysql://db/hpsearch"):
            with self.assertRaisesRegex(AssertionError, "schema"):
                manifests.render("--set", wrong)


def only(kind, *options):
    """The daemon's object of this kind, or None."""
    found = [one for one in manifests.objects_in(manifests.render(*options)) if one["kind"] == kind]
    return found[0] if found else None


@unittest.skipIf(manifests.helm() is None, "no helm here (scripts/setup kubernetes)")
class SeveralDaemons(unittest.TestCase):
    def test_they_need_a_store_in_postgresql_with_shared_keys(self):
        with self.assertRaisesRegex(AssertionError, "daemon.replicas is 2, .* set daemon.store.postgresql.url"):
            manifests.render("--set", "daemon.replicas=2")
        with self.assertRaisesRegex(AssertionError, "daemon.replicas is 2, .* set daemon.store.postgresql.keySecret"):
            manifests.render(*TWO_DAEMONS, "--set", "daemon.store.postgresql.keySecret=")
        with self.assertRaisesRegex(AssertionError, "are for a store in PostgreSQL"):
            manifests.render("--set", "daemon.store.postgresql.passwordSecret=database")

    def test_all_but_one_wait_and_are_neither_killed_nor_asked(self):
        made = only("StatefulSet", *TWO_DAEMONS)["spec"]
        self.assertEqual(made["replicas"], 2)
        self.assertEqual((made["podManagementPolicy"], made["updateStrategy"]), ("Parallel", {"type": "OnDelete"}))
        self.assertEqual([one["metadata"]["name"] for one in made["volumeClaimTemplates"]], ["state"])
        daemon = made["template"]["spec"]["containers"][0]
        self.assertIn("--standby", daemon["args"])
        self.assertEqual(daemon["readinessProbe"]["httpGet"]["path"], "/readyz")
        startup = daemon["startupProbe"]
        self.assertGreater(startup["periodSeconds"] * startup["failureThreshold"], 300 * 24 * 3600)
        (spread,) = made["template"]["spec"]["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        self.assertEqual(spread["podAffinityTerm"]["topologyKey"], "kubernetes.io/hostname")
        self.assertEqual(spread["podAffinityTerm"]["labelSelector"], made["selector"])

    def test_they_share_passwords_keys_and_files(self):
        pod = only("StatefulSet", *TWO_DAEMONS)["spec"]["template"]["spec"]
        (first,), (daemon,) = pod["initContainers"], pod["containers"]
        self.assertEqual(first["securityContext"], daemon["securityContext"])
        volumes = {one["name"]: one for one in pod["volumes"]}
        self.assertEqual([one["secret"]["name"] for one in volumes["secret-volume"]["projected"]["sources"]], ["database", "store-key"])
        self.assertEqual(volumes["blobs"]["persistentVolumeClaim"], {"claimName": "files"})
        places = {one["name"]: one["mountPath"] for one in daemon["volumeMounts"]}
        self.assertNotIn("secret-volume", places)
        self.assertIn(f"--blobs={places['blobs']}", daemon["args"])
        self.assertIn(f"--store-key-file={places['postgresql']}/store.key", daemon["args"])
        self.assertIn("--store=postgresql://hpsearch@db.example.org/hpsearch", daemon["args"])
        self.assertIn({"name": "PGPASSFILE", "value": f"{places['postgresql']}/passfile"}, daemon["env"])
        for container in (first, daemon):
            self.assertLessEqual({one["name"] for one in container["volumeMounts"]}, set(volumes) | {"state"})

    def test_one_daemon_in_postgresql_waits_for_none(self):
        made = only("StatefulSet", *IN_POSTGRESQL)["spec"]
        daemon = made["template"]["spec"]["containers"][0]
        self.assertNotIn("--standby", daemon["args"])
        self.assertIn("--store=postgresql://hpsearch@db.example.org/hpsearch", daemon["args"])
        self.assertEqual((made["replicas"], made["podManagementPolicy"]), (1, "Parallel"))
        self.assertEqual(daemon["startupProbe"]["failureThreshold"], 720)

    def test_a_budget_is_made_if_it_is_asked_for(self):
        self.assertIsNone(only("PodDisruptionBudget", *TWO_DAEMONS))
        self.assertIsNone(only("PodDisruptionBudget", "--set", "daemon.disruptionBudget=true"))
        made = only("PodDisruptionBudget", *TWO_DAEMONS, "--set", "daemon.disruptionBudget=true")["spec"]
        self.assertEqual(made["maxUnavailable"], 1)
        self.assertEqual(made["selector"], only("StatefulSet", *TWO_DAEMONS)["spec"]["selector"])

    def test_they_get_no_more_rights(self):
        rules = [only("Role", *options)["rules"] for options in ([], TWO_DAEMONS)]
        self.assertEqual(rules[0], rules[1])


@unittest.skipIf(manifests.helm() is None, "no helm here (scripts/setup kubernetes)")
class ChartInPods(programs_test.PodCase):
    def test_the_pod_of_helm_test_succeeds(self):
        token = self.hpsearch("token", "create", "--name", "test", "--role", "submitter")
        address = self.address().replace("127.0.0.1", "hpsearch.trials.svc")
        self.secrets[("Secret", "test")] = {"server": address + "\n", "token": token}
        self.invite_workers()
        worker = self.start_pod("hpsearch-worker", 0)
        self.wait_for_workers(1, worker)
        for options in ([], ["--set", "test.secretName=test"]):
            (pod,) = manifests.objects_in(manifests.render("--show-only", "templates/tests/search.yaml", *options))
            self.started += 1
            test = pod_process.PodProcess(pod, self.folder / f"{self.started}-test", harness.BIN, hosts=HOSTS,
                                          objects=self.secrets).start()
            self.assertEqual(test.popen.wait(harness.PATIENCE), 0, test.said())

    def test_the_certificate_can_be_a_secret(self):
        self.daemon.stop(0)
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                               "-keyout", self.folder / "key", "-out", self.folder / "crt", "-subj", "/CN=hpsearch"], capture_output=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.secrets[("Secret", "own")] = {"tls.key": (self.folder / "key").read_text(), "tls.crt": (self.folder / "crt").read_text()}
        self.objects = manifests.objects_in(manifests.render("--set", "tls.secretName=own"))
        self.daemon = self.start_pod("hpsearch", 0)
        self.wait_until_ready()


if __name__ == "__main__":
    pod_process.enter_own_network()
    unittest.main()
