"""The pods of deploy/kubernetes as processes of this machine (pod_process.py): with a root directory that is read-only, without
root's rights, and with volumes as a kubelet prepares them. Without a Kubernetes."""

import json
import pathlib
import re
import ssl
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import harness
import manifests
import manifests_test
import pod_process

HOSTS = "127.0.0.1 hpsearch hpsearch.trials.svc\n"
SEARCH = """\
name: small
entrypoint: sh train.sh {x}
hyperparameters:
  x: {type: double, minval: 0, maxval: 1}
metrics: {loss: 'loss: {number}'}
searcher: {name: random, metric: loss, max_trials: 6, max_length: {epochs: 1}}
"""


def pod_of(name, number, objects):
    """The pod that a StatefulSet makes."""
    made = next(one for one in objects if one["kind"] == "StatefulSet" and one["metadata"]["name"] == name)
    template = made["spec"]["template"]
    pod = {"metadata": template["metadata"] | {"name": f"{name}-{number}", "namespace": "trials"}, "spec": dict(template["spec"])}
    pod["spec"]["volumes"] = template["spec"]["volumes"] + [
        {"name": claim["metadata"]["name"], "persistentVolumeClaim": {"claimName": f"{claim['metadata']['name']}-{name}-{number}"}}
        for claim in made["spec"].get("volumeClaimTemplates", [])]
    return pod


@unittest.skipIf(pod_process.missing(), pod_process.missing())
class PodCase(harness.Case):
    """A daemon in its pod."""

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.objects = manifests.committed("base/hpsearch.yaml") + manifests.committed("static-workers/workers.yaml")
        self.secrets = {}
        self.started = 0
        self.daemon = self.start_pod("hpsearch", 0)
        self.wait_until_ready()

    def start_pod(self, name, number):
        self.started += 1
        pod = pod_process.PodProcess(pod_of(name, number, self.objects), self.folder / f"{self.started}-{name}-{number}",
                                     harness.BIN, hosts=HOSTS, objects=self.secrets, claims=self.folder / "claims").start()
        self.addCleanup(pod.stop)
        return pod

    def asked(self, path):
        """Status of the answer to a probe of the kubelet, which calls the pod by its address."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        request = urllib.request.Request(f"https://127.0.0.1:8077{path}", headers={"Host": "10.1.2.3:8077"})
        try:
            with urllib.request.urlopen(request, context=context, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def wait_until_ready(self):
        harness.wait_for(lambda: self.asked("/readyz") == 200, "the daemon to be ready", self.daemon.said)
        self.assertEqual(self.asked("/healthz"), 200)

    def hpsearch(self, *words, **more):
        done = self.daemon.run("hpsearch", *words, **more)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def address(self):
        """With the fingerprint, as the daemon's log has it."""
        return "https://127.0.0.1:8077#" + re.findall(r"https://\S*#([0-9a-f]{64})", self.daemon.said())[-1]

    def invite_workers(self):
        self.secrets[("Secret", "hpsearch-invite")] = {"invite": self.hpsearch("worker", "invite", "--for", "365d", "--uses", "1000")}

    def connected(self):
        return self.hpsearch("workers", "--output", "json").count('"connected": true')

    def wait_for_workers(self, number, worker):
        harness.wait_for(lambda: self.connected() == number, f"{number} workers", lambda: worker.said() + self.daemon.said())

    def search(self):
        """In the directory of the pod that its user may write to, as kubectl cp would leave it."""
        place = self.daemon.folder / "volumes" / "tmp" / "search"
        place.mkdir()
        (place / "search.yaml").write_text(SEARCH)
        # Processes that a trial leaves behind become children of process 1.
        (place / "train.sh").write_text('(sleep 0.1 &)\necho "loss: $1"\n')
        number = json.loads(self.hpsearch("submit", "/tmp/search/search.yaml", "--output", "json"))["experiment"]
        self.hpsearch("wait", str(number))
        self.assertIn("COMPLETED", self.hpsearch("list"))


# Settings and arguments of queues → what they are for.
QUEUES = {
    "cpu": ["--", "--image", "train:1", "--cpu", "2", "--memory", "4Gi"],
    "gpu": ["--workers-per-alloc", "2", "--max-workers", "4", "--", "--image", "train:1", "--gpus", "4", "--gpu-resource", "amd.com/gpu"],
    "others": ["--", "--image", "train:1", "--kueue-queue", "team", "--scheduler-name", "volcano"],
}


class JobsOfQueues(manifests_test.SchemaCase, PodCase):
    def test_every_release_takes_them(self):
        policy = next(one for one in self.objects if one["kind"] == "NetworkPolicy")
        admitted = policy["spec"]["ingress"][0]["from"][0]["podSelector"]["matchExpressions"][0]["key"]
        for name, options in QUEUES.items():
            self.hpsearch("alloc", "add", "kubernetes", "--no-check", "--name", name, *options)
            script = self.hpsearch("alloc", "script", name)
            job = json.loads(script[script.index("\n{"):])
            self.judge([job], name)
            self.assertIn(admitted, job["spec"]["template"]["metadata"]["labels"], "the NetworkPolicy lets them in")


class Programs(PodCase):
    def test_a_search_runs_in_the_pods(self):
        self.invite_workers()
        workers = [self.start_pod("hpsearch-worker", number) for number in (0, 1)]
        self.wait_for_workers(2, workers[0])
        self.search()
        for worker in workers:
            states = worker.run("sh", "-c", "cat /proc/[0-9]*/stat").stdout
            self.assertNotIn(") Z 1 ", states, "process 1 reaps what trials leave behind")
            self.assertEqual(worker.stop(), 0, worker.said())
        self.assertEqual(self.daemon.stop(), 0, self.daemon.said())

    def test_the_daemon_comes_back_on_another_node_with_its_volume(self):
        self.invite_workers()
        worker = self.start_pod("hpsearch-worker", 0)
        self.wait_for_workers(1, worker)
        address = self.address()
        self.daemon.stop(0)
        self.daemon = self.start_pod("hpsearch", 0)
        self.wait_until_ready()
        self.wait_for_workers(1, worker)
        self.assertEqual(self.address(), address, "clients know the certificate by its fingerprint")

    def test_a_replaced_worker_joins_again_under_its_name(self):
        self.invite_workers()
        worker = self.start_pod("hpsearch-worker", 0)
        self.wait_for_workers(1, worker)
        worker.stop()
        worker = self.start_pod("hpsearch-worker", 0)
        self.wait_for_workers(1, worker)

    def test_the_first_token_is_made_in_the_pod(self):
        token = self.hpsearch("token", "create", "--name", "me", "--role", "admin").strip()
        listed = subprocess.run([str(harness.BIN / "hpsearch"), "list", "--server", self.address(), "--token-file", "-"], input=token,
                                capture_output=True, text=True, env=harness.environment(), timeout=60)
        self.assertEqual(listed.returncode, 0, listed.stderr)



if __name__ == "__main__":
    pod_process.enter_own_network()
    unittest.main()
