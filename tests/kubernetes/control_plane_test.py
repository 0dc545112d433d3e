"""Searches on a real Kubernetes control plane (kube_cluster.py) whose nodes are played (played_nodes.py): kubelets, containers and
networks of pods are none of Kubernetes' here."""

import base64
import json
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import harness
import kube_cluster
import manifests
import played_nodes
import pod_process

NAMESPACE = "trials"
HOSTS = "127.0.0.1 hpsearch hpsearch.trials.svc kubernetes.default.svc\n"
ACCOUNT = "hpsearch"
SEARCH = """\
name: small
entrypoint: sh train.sh {x}
hyperparameters:
  x: {type: double, minval: 0, maxval: 1}
metrics: {loss: 'loss: {number}'}
searcher: {name: random, metric: loss, max_trials: 6, max_length: {epochs: 1}}
"""
# The role of the daemon admits these and refuses everything else.
ADMITTED = {("batch", "jobs", verb) for verb in ("create", "get", "list", "watch", "delete")} \
    | {("", "pods", verb) for verb in ("get", "list", "watch")} | {("", "pods/log", "get"), ("", "events", "list")} \
    | {("", "secrets", verb) for verb in ("create", "delete")}
VERBS = ("create", "get", "list", "watch", "delete", "update", "patch", "deletecollection")
RESOURCES = (("batch", "jobs"), ("batch", "cronjobs"), ("batch", "jobs/status"), ("", "pods"), ("", "pods/log"), ("", "pods/exec"),
             ("", "secrets"), ("", "events"), ("", "configmaps"), ("", "services"), ("", "nodes"), ("", "namespaces"),
             ("", "serviceaccounts/token"), ("", "persistentvolumeclaims"), ("apps", "statefulsets"), ("apps", "deployments"),
             ("rbac.authorization.k8s.io", "roles"), ("rbac.authorization.k8s.io", "rolebindings"))


@unittest.skipIf(kube_cluster.missing() or pod_process.missing(), kube_cluster.missing() or pod_process.missing())
class OnKubernetes(harness.Case):
    """A control plane with the chart in a namespace that enforces the restricted standard of pod security, and two nodes."""

    with_workers = False

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.cluster = kube_cluster.KubeCluster(self.folder / "kubernetes")
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        self.cluster.make_namespace(NAMESPACE, **{"pod-security.kubernetes.io/enforce": "restricted"})
        self.nodes = played_nodes.PlayedNodes(self.cluster, self.folder / "pods", harness.BIN, hosts=HOSTS)
        self.addCleanup(self.nodes.stop)
        for name in ("n1", "n2"):
            self.nodes.add(name)
        self.nodes.start()

    def get(self, path, **query):
        return self.cluster.api.get(f"/api/v1/namespaces/{NAMESPACE}/{path}", **query)

    def status_of(self, pod):
        return next((one["status"] for one in self.get("pods")["items"] if one["metadata"]["name"] == pod), {})

    def jobs(self):
        return self.cluster.api.get(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs")["items"]

    def install(self, name="base/hpsearch.yaml"):
        for one in manifests.committed(name):
            self.cluster.create(one, NAMESPACE)

    def make_volume(self):
        """As an administrator without a provisioner does."""
        self.cluster.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
                             "spec": {"capacity": {"storage": "20Gi"}, "accessModes": ["ReadWriteOncePod"],
                                      "hostPath": {"path": "/nowhere"}}})

    def process(self, name):
        """The container of a pod that runs."""
        found = [one for one in self.nodes.pods.values() if one is not None and one.pod["metadata"]["name"] == name]
        return found[-1] if found and not found[-1].is_over() else None

    def described(self):
        states = [(pod["metadata"]["name"], pod["status"]) for pod in self.get("pods")["items"]]
        events = [(event["reason"], event.get("message")) for event in self.get("events")["items"]]
        logs = [process.said() for process in self.nodes.pods.values() if process is not None]
        return json.dumps(states, indent=1) + "\n" + "\n".join(map(str, events)) + "\n".join(logs) + str(self.nodes.problems)

    def until(self, done, what):
        harness.wait_for(done, what, self.described)

    def start_daemon(self):
        self.install()
        self.make_volume()
        self.until(lambda: self.process("hpsearch-0") is not None, "the daemon's pod to run")
        self.until(lambda: self.process("hpsearch-0").run("hpsearch", "list").returncode == 0, "the daemon to answer")

    def hpsearch(self, *words, expect=0):
        """As kubectl exec hpsearch-0 -- hpsearch."""
        done = self.process("hpsearch-0").run("hpsearch", *words)
        self.assertEqual(done.returncode, expect, f"{words}\n{done.stdout}\n{done.stderr}\n{self.described()}")
        return done.stdout

    def submit(self, text=SEARCH, program='echo "loss: $1"\n'):
        place = self.process("hpsearch-0").folder / "volumes" / "tmp" / "search"
        place.mkdir(exist_ok=True)
        (place / "search.yaml").write_text(text)
        (place / "train.sh").write_text(program)
        return json.loads(self.hpsearch("submit", "/tmp/search/search.yaml", "--output", "json"))["experiment"]


class Chart(OnKubernetes):
    def test_a_search_runs_on_static_workers(self):
        self.start_daemon()
        self.install("static-workers/workers.yaml")
        self.until(lambda: self.status_of("hpsearch-worker-0").get("containerStatuses"), "the worker's pod to be bound")
        self.assertEqual(self.get("pods/hpsearch-worker-0")["status"]["phase"], "Pending", "it waits for its invite")
        invite = self.hpsearch("worker", "invite", "--for", "365d", "--uses", "1000")
        self.cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hpsearch-invite"},
                             "stringData": {"invite": invite}}, NAMESPACE)
        self.hpsearch("wait", str(self.submit()))
        self.assertIn("COMPLETED", self.hpsearch("list"))
        # A drained node: the pod is evicted, and its successor joins under its name.
        uid = self.get("pods/hpsearch-worker-0")["metadata"]["uid"]
        self.cluster.api.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/pods/hpsearch-worker-0/eviction",
                             {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "hpsearch-worker-0"}})
        self.until(lambda: [pod for pod in self.get("pods")["items"] if pod["metadata"]["name"] == "hpsearch-worker-0"
                            and pod["metadata"]["uid"] != uid and pod["status"]["phase"] == "Running"], "the pod to be replaced")
        self.hpsearch("wait", str(self.submit()))
        self.assertEqual(self.nodes.problems, [])

    def test_the_daemon_may_do_what_queues_need_and_nothing_else(self):
        self.install()
        daemon = kube_cluster.Api(self.cluster, self.cluster.account(ACCOUNT)["token"])
        admitted = set()
        for group, resource in RESOURCES:
            kind, _, part = resource.partition("/")
            for verb in VERBS:
                if daemon.may(verb, group, kind, NAMESPACE, part):
                    admitted.add((group, resource, verb))
                self.assertFalse(daemon.may(verb, group, kind, "default", part), (group, resource, verb))
        self.assertEqual(admitted, ADMITTED)
        with self.assertRaises(kube_cluster.Refused) as refused:
            daemon.get(f"/api/v1/namespaces/{NAMESPACE}/secrets")
        self.assertEqual(refused.exception.status, 403)

    def test_nothing_in_the_manifests_is_unknown_or_warned_of(self):
        for name in manifests.RENDERED:
            for one in manifests.committed(name):
                self.cluster.create(one, NAMESPACE, dry=True)
        self.assertEqual(self.cluster.api.warnings, [])
        wrong = manifests.committed("base/hpsearch.yaml")[-1]
        wrong["spec"]["template"]["spec"]["containers"][0]["immage"] = "x"
        with self.assertRaises(kube_cluster.Refused) as refused:
            self.cluster.create(wrong, NAMESPACE, dry=True)
        self.assertIn("immage", str(refused.exception))


class Queues(OnKubernetes):
    """The daemon asks for Jobs with the account of its pod, and nothing else."""

    def setUp(self):
        super().setUp()
        self.start_daemon()

    def add_queue(self, *options, arguments=("--image", "hpsearch:0.1.0", "--cpu", "1", "--memory", "1Gi"), expect=0):
        return self.hpsearch("alloc", "add", "kubernetes", "--name", "cpu", "--time-limit", "30m", "--max-workers", "2",
                             "--backlog", "2", "--slots", "2", "--idle-timeout", "3s", *options, "--", *arguments, expect=expect)

    def remove_queue(self):
        """Returns when its Jobs are gone, and then it is."""
        self.hpsearch("alloc", "remove", "cpu", "--now")
        self.until(lambda: not self.jobs() and '"cpu"' not in self.hpsearch("alloc", "list", "--output", "json"), "the queue to be removed")

    def queue(self):
        return json.loads(self.hpsearch("alloc", "show", "cpu", "--output", "json"))

    def workers(self):
        """Pods of Jobs that run."""
        return [pod for pod in self.get("pods")["items"]
                if "hpsearch/queue" in pod["metadata"]["labels"] and pod["status"]["phase"] == "Running"]

    def wait_for(self, experiment):
        self.until(lambda: "COMPLETED" in self.hpsearch("list"), "the search to end")
        shown = json.loads(self.hpsearch("show", str(experiment), "--output", "json"))
        self.assertEqual(shown["state"], "COMPLETED")

    def judge_that_nothing_is_left(self):
        def is_over():
            queue = self.queue()
            return queue["pending"] + queue["running"] == 0
        self.until(is_over, "all allocations to end")
        self.until(lambda: not self.workers(), "all pods to end")
        self.until(lambda: json.loads(self.hpsearch("workers", "--output", "json"))["workers"] == [], "all workers to be forgotten")

    def test_a_search_gets_its_workers_and_leaves_nothing(self):
        said = self.add_queue()
        self.assertIn("would take the Job", said)
        self.assertEqual(self.jobs(), [], "a check starts nothing")
        experiment = self.submit()
        self.wait_for(experiment)
        self.judge_that_nothing_is_left()
        jobs = self.jobs()
        self.assertGreater(len(jobs), 0)
        secrets = self.get("secrets")["items"]
        self.assertEqual({secret["metadata"]["ownerReferences"][0]["uid"] for secret in secrets} -
                         {job["metadata"]["uid"] for job in jobs}, set())
        self.assertEqual(self.nodes.problems, [])

    def test_an_evicted_worker_loses_no_trial(self):
        self.add_queue()
        experiment = self.submit(SEARCH.replace("max_trials: 6", "max_trials: 12"), 'sleep 1\necho "loss: $1"\n')
        self.until(lambda: self.queue()["joined"] > 0, "a worker to join")
        evicted = self.workers()[0]["metadata"]["name"]
        self.cluster.api.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/pods/{evicted}/eviction",
                             {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": evicted}})
        self.until(lambda: "preempted" in self.ends(), "the end to be known")
        self.assertEqual((self.queue()["failures"], self.queue()["state"]), (0, "active"))
        self.wait_for(experiment)
        trials = json.loads(self.hpsearch("trials", str(experiment), "--output", "json"))["trials"]
        self.assertEqual(sum(trial["restarts"] for trial in trials), 0)
        self.judge_that_nothing_is_left()

    def ends(self):
        return [allocation["end"] for allocation in self.queue()["allocations"] if allocation["end"]]

    def explained(self):
        return self.hpsearch("explain", "queue", "cpu")

    def test_what_keeps_a_job_from_its_start_has_words(self):
        self.cluster.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"pods": "1"}}})
        self.until(lambda: self.cluster.api.get(f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/small")["status"].get("used"),
                   "the quota to count")
        self.add_queue()
        self.submit()
        self.until(lambda: "exceeded quota" in self.explained(), "the quota's words")
        self.remove_queue()
        self.cluster.api.ask("DELETE", f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/small")
        self.add_queue(arguments=("--image", "hpsearch:0.1.0", "--cpu", "64"))
        self.until(lambda: "Insufficient cpu" in self.explained(), "the scheduler's words")
        self.remove_queue()
        self.add_queue(arguments=("--image", "missing:1", "--cpu", "1"))
        self.until(lambda: "ImagePullBackOff" in (self.queue()["last_failure"] or ""), "the kubelet's words")

    def test_a_killed_daemon_finds_its_jobs_again(self):
        self.add_queue()
        experiment = self.submit(SEARCH.replace("max_trials: 6", "max_trials: 12"), 'sleep 1\necho "loss: $1"\n')
        self.until(lambda: self.queue()["joined"] > 0, "a worker to join")
        before = {job["metadata"]["uid"] for job in self.jobs()}
        daemon = self.process("hpsearch-0")
        daemon.signal(signal.SIGKILL)
        daemon.popen.wait()
        self.until(lambda: self.process("hpsearch-0") and
                   self.process("hpsearch-0").run("hpsearch", "list").returncode == 0, "the daemon to be back")
        self.wait_for(experiment)
        self.judge_that_nothing_is_left()
        numbers = [job["metadata"]["annotations"]["hpsearch/allocation"] for job in self.jobs()]
        self.assertEqual(len(numbers), len(set(numbers)), "an allocation has two Jobs")
        self.assertLessEqual(before, {job["metadata"]["uid"] for job in self.jobs()})
        self.assertEqual(len(numbers), len(self.queue()["allocations"]))

    def test_secrets_go_with_their_jobs(self):
        self.add_queue()
        experiment = self.submit()
        self.until(lambda: self.get("secrets")["items"], "a Job's Secret")
        secret = self.get("secrets")["items"][0]
        word = base64.b64decode(secret["data"]["invite"]).decode().strip()
        said = json.dumps(self.jobs()) + json.dumps(self.get("pods")) + json.dumps(self.get("events"))
        self.assertNotIn(word, said, "only the Secret has the invite")
        self.wait_for(experiment)
        self.judge_that_nothing_is_left()
        for job in self.jobs():  # In 5 minutes otherwise.
            self.cluster.api.merge(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{job['metadata']['name']}",
                                   {"spec": {"ttlSecondsAfterFinished": 1}})
        self.until(lambda: not self.jobs(), "finished Jobs to be removed")
        self.until(lambda: not self.get("secrets")["items"], "their Secrets to be removed")


if __name__ == "__main__":
    pod_process.enter_own_network()
    unittest.main()
