"""Queues of allocations on Kubernetes, whose API is played (scripted_kubernetes.py) and whose pods are real workers."""

import pathlib
import unittest

import harness
import queue_case
import scripted_kubernetes


class QueueOnKubernetes(queue_case.QueueCase):
    backend = "kubernetes"

    def start_scheduler(self):
        self.kubernetes = scripted_kubernetes.ScriptedKubernetes(self.folder / "kubernetes")
        self.addCleanup(self.kubernetes.stop)
        self.kubernetes.start()
        return self.kubernetes

    def add_queue(self, *options, arguments=("--image", "train:3", "--cpu", "2"), **others):
        return super().add_queue(*options, arguments=arguments, **others)

    def judge(self, experiment):
        """The search has completed with no trial started again, and nothing of it is left anywhere."""
        self.wait_for(experiment)
        self.assertEqual(self.restarts(experiment), 0)
        self.judge_that_nothing_is_left()
        self.assertEqual(self.kubernetes.running(), [])
        self.assertEqual(self.kubernetes.strange, [], "the daemon's role admits everything that it asks")

    def test_a_search_gets_its_pods_and_leaves_nothing(self):
        said = self.add_queue("--workers-per-alloc", "2")
        self.assertIn("would take the Job in the namespace search", said.stdout)
        self.assertEqual(self.kubernetes.jobs, {}, "a check starts nothing")
        experiment = self.submit(trials=12)
        self.until(lambda: self.show()["joined"] == 2, "both workers of the allocation to join")
        secrets = [secret["stringData"]["invite"] for secret in self.kubernetes.secrets.values()]
        jobs = str(self.kubernetes.jobs)
        for file in [*pathlib.Path("/proc").glob("[0-9]*/environ"), *pathlib.Path("/proc").glob("[0-9]*/cmdline")]:
            try:
                text = file.read_bytes().decode(errors="replace")
            except OSError:
                continue
            self.assertFalse([True for secret in secrets if secret in text], file)
        self.assertFalse([True for secret in secrets if secret in jobs])
        self.assertIn("connects to", self.cli("alloc", "log", self.show()["allocations"][0]["name"]).stdout)
        self.judge(experiment)
        self.assertEqual(set(self.ends()) - {"idle", "canceled"}, set(), self.show())
        self.assertIn('"backoffLimitPerIndex"', self.cli("alloc", "script", "gpu").stdout)
        self.cli("alloc", "remove", "gpu")
        self.until(lambda: not list(self.cluster.state.glob("alloc/*/*")), "its directories are removed")

    def test_faults_of_the_api_cost_no_trial(self):
        self.kubernetes.faults = [429, "", 503]
        self.add_queue()
        experiment = self.submit()
        self.kubernetes.faults = ["cut", 500, "", 410, 429, "", "cut", "", 401, "", 503, "cut", 504, "", 410, "", "cut"]
        self.until(lambda: self.show()["joined"] > 0, "a worker to join")
        self.kubernetes.write_token("second")  # The one before has expired.
        self.judge(experiment)
        self.assertEqual(self.kubernetes.faults, [])
        self.assertEqual(self.show()["failures"], 0, self.show())

    def test_an_evicted_pod_loses_no_trial(self):
        self.add_queue()
        experiment = self.submit(trials=6, STEP_SECONDS=0.5)
        self.until(lambda: self.show()["joined"] > 0, "a worker to join")
        for pod in self.kubernetes.running():
            pod.evict("EvictionByEvictionAPI")
        self.until(lambda: "preempted" in self.ends(), "the end to be known")
        self.assertEqual((self.show()["failures"], self.show()["state"]), (0, "active"))
        self.judge(experiment)

    def test_a_daemon_killed_in_a_submission_makes_one_job_of_it(self):
        self.add_queue()
        self.kubernetes.on_secret = self.cluster.kill_daemon
        experiment = self.submit()
        self.until_killed()
        self.assertEqual(len(self.kubernetes.jobs), 1)
        self.assertEqual(self.kubernetes.secrets, {}, "the Job waits for its Secret")
        self.kubernetes.on_secret = None
        self.begin_daemon()
        self.until(lambda: self.show()["joined"] > 0, "the Secret to be made")
        self.judge(experiment)

    def until_killed(self):
        harness.wait_for(lambda: self.cluster.daemon.popen.poll() is not None, "the daemon to be killed")

    def test_what_cannot_start_ends_with_the_reason(self):
        refused = self.add_queue(arguments=("--image", "train:3", "--cpu", "many"), expect=4)
        self.assertIn("the argument --cpu is \"many\"", refused.stdout)
        self.kubernetes.refusal = (403, 'jobs.batch is forbidden: User "u" cannot create resource "jobs"')
        refused = self.add_queue(expect=4)
        self.assertIn('User "u" cannot create resource "jobs"', refused.stdout)
        self.kubernetes.refusal = None
        self.add_queue(arguments=("--image", "missing:1"))
        self.submit()
        self.until(lambda: "ImagePullBackOff" in self.cli("explain", "queue", "gpu").stdout or "will_not_start" in self.ends(),
                   "the reason to be shown")
        self.until(lambda: "will_not_start" in self.ends(), "the allocation to be canceled")
        self.assertIn("Back-off pulling image missing:1", self.show()["last_failure"])
        self.cli("alloc", "remove", "gpu", "--now")
        self.until(lambda: not self.kubernetes.jobs and not self.kubernetes.secrets, "the Job to be removed")

    def test_a_client_certificate_gives_access(self):
        self.kubernetes.admit({"token": "wrong"})
        self.assertIn("Unauthorized", self.add_queue(expect=4).stdout)
        self.kubernetes.admit({"client-certificate": "certificate", "client-key": "key"})
        self.assertIn("would take the Job", self.add_queue().stdout)
        self.kubernetes.admit({"exec": {"command": "aws"}})
        self.assertIn("has a user with exec", self.cli("alloc", "check", "gpu", expect=4).stdout)

    def test_a_pod_that_fails_leaves_its_log(self):
        self.add_queue("--no-check", arguments=("--image", "train:3", "--worker", "false"))
        self.submit()
        self.until(lambda: "failed" in self.ends(), "the allocation to fail")
        self.assertIn("exit code 1", self.show()["last_failure"])
        self.cli("alloc", "remove", "gpu", "--now")

    def test_a_pod_template_is_read_from_its_file(self):
        template = self.folder / "pod.yaml"
        template.write_text("spec:\n  nodeSelector: {disk: ssd}\n  containers:\n  - {name: training, image: 'train:3'}\n")
        self.add_queue(arguments=("--pod-template", str(template)))
        self.submit(trials=2)
        self.until(lambda: self.show()["joined"] > 0, "a worker to join")
        job = next(iter(self.kubernetes.jobs.values()))
        self.assertEqual(job["spec"]["template"]["spec"]["nodeSelector"], {"disk": "ssd"})
        template.write_text("spec: {restartPolicy: Always}\n")
        refused = self.cli("alloc", "add", "kubernetes", "--name", "other", "--", "--image=i", f"--pod-template={template}", expect=4)
        self.assertIn("--pod-template has spec.restartPolicy, which the queue sets itself", refused.stdout)
        self.cli("alloc", "remove", "gpu", "--now")
        self.until(lambda: not self.kubernetes.jobs, "the Job to be removed")


if __name__ == "__main__":
    unittest.main()
