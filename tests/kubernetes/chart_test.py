"""The chart, with the genuine helm: the manifests are rendered from it, and what its values make works. Skipped as a whole without
helm (scripts/setup kubernetes)."""

import subprocess
import unittest

import manifests
import manifests_test
import pod_process
import programs_test
from programs_test import HOSTS, harness

# Values → what they are for. Each is rendered and compared with the schemas, where helm is.
VARIANTS = {
    "all": ["--set", "tls.secretName=tls,checkpoints.claim=shared,workers.static.replicas=3,test.secretName=test",
            "--set", "image.pullSecrets[0].name=registry,daemon.nodeSelector.pool=cpu,daemon.storage.className=fast",
            "--set", "workers.static.tolerations[0].operator=Exists,service.annotations.a=b",
            "--set", "workers.static.resources.limits.nvidia\\.com/gpu=4,daemon.arguments={--lost-after=120}"],
    "no policy": ["--set", "networkPolicy.enabled=false,service.type=LoadBalancer"],
}


@unittest.skipIf(manifests.helm() is None, "no helm here (scripts/setup kubernetes)")
class Chart(manifests_test.SchemaCase):
    def test_the_manifests_are_rendered_from_it(self):
        self.assertEqual(manifests.stale(), [], "python3 tests/kubernetes/manifests.py --write")

    def test_every_release_takes_what_values_make(self):
        for name, options in VARIANTS.items():
            self.judge(manifests.objects_in(manifests.render(*options)), name)

    def test_unknown_and_wrong_values_are_refused(self):
        for wrong in ("daemon.storrage.size=1Gi", "workers.static.replicas=-1", "user=0"):
            with self.assertRaisesRegex(AssertionError, "schema"):
                manifests.render("--set", wrong)


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
