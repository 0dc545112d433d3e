"""The context directory: packed at submission, kept once by its digest, fetched by workers that do not see it."""

import hashlib
import io
import shutil
import subprocess
import tarfile
import unittest
import zipfile

import harness

PROGRAM = """test "$(cat data.txt)" = one || exit 9
echo two > data.txt
echo 'HPSEARCH {"step": 1, "loss": 0.5}'
"""


class Context(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.context = self.folder / "context"
        self.context.mkdir()
        (self.context / "data.txt").write_text("one")
        (self.context / "train.sh").write_text(PROGRAM)

    def begin(self, *arguments):
        self.cluster.start_daemon("--http", "127.0.0.1:0", "--tls-self-signed", *arguments)  # Workers fetch over TCP.
        self.cluster.wait_until_up()

    def submit(self, expect=0, **more):
        tree = {"entrypoint": ["sh", "train.sh"],
                "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
                "searcher": {"name": "random", "metric": "loss", "max_length": {"epochs": 1}, "max_trials": 4},
                "max_restarts": 0, "reproducibility": {"experiment_seed": 7}} | more
        return self.run_cli("submit", self.write_experiment(tree), self.context, "--server", self.cluster.server, "-o",
                            "json", expect=expect)

    def kept(self):
        """What is in the directory of contexts. Bodies of other uploads, such as a worker's logs, pass through it."""
        place = self.cluster.state / "contexts"
        harness.wait_for(lambda: not list(place.glob("upload-*.part")), "uploads are over")
        return sorted(path.name for path in place.glob("*"))

    def put(self, digest, body):
        connection = self.cluster.connection()
        connection.request("PUT", f"/api/v1/contexts/{digest}", body, {"Content-Type": "application/x-tar"})
        response = connection.getresponse()
        said = response.status, response.read().decode()
        connection.close()
        return said

    def test_workers_need_not_see_the_directory(self):
        self.begin()
        first = self.submit()["experiment"]
        digest = self.cluster.get(f"/api/v1/experiments/{first}")["context_digest"]
        self.assertEqual(self.kept(), [f"{digest}.tar"])
        packed = (self.cluster.state / "contexts" / f"{digest}.tar").read_bytes()
        self.assertEqual(hashlib.sha256(packed).hexdigest(), digest)
        again = self.submit()["experiment"]
        self.assertEqual(self.cluster.get(f"/api/v1/experiments/{again}")["context_digest"], digest)
        self.assertEqual(self.kept(), [f"{digest}.tar"], "the same content is kept once")
        shutil.rmtree(self.context)
        self.cluster.kill_daemon()  # What was acknowledged is durable.
        self.begin()
        for name in ("one", "other"):
            self.cluster.start_worker(2, name)
        for experiment in (first, again):
            self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
            self.assertEqual({trial["attempts"] for trial in self.cluster.trials(experiment)}, {1},
                             "a program saw what another had written")
        shown = self.run_cli("show", first, "--server", self.cluster.server).stdout
        self.assertIn(f"(sha256 {digest[:12]}, {len(packed)} bytes)", shown)

    @unittest.skipUnless(shutil.which("git"), "git is missing")
    def test_file_and_commit_are_kept_as_they_were(self):
        git = ["git", "-C", self.context, "-c", "user.name=Ann", "-c", "user.email=ann@localhost"]
        for words in (["init", "-q", "-b", "trunk"], ["add", "."], ["commit", "-q", "-m", "work"]):
            subprocess.run([*git, *words], check=True, timeout=60)
        commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, timeout=60, capture_output=True,
                                text=True).stdout.strip()
        self.begin()
        first = self.submit()["experiment"]
        self.assertEqual(self.cluster.get(f"/api/v1/experiments/{first}")["git"],
                         {"commit": commit, "branch": "trunk", "dirty": False})
        (self.context / "notes.txt").write_text("not committed")
        again = self.submit(environment={"environment_variables": {"KEY": "canary-5f1c93d2"}})["experiment"]
        shown = self.run_cli("show", again, "--server", self.cluster.server).stdout
        self.assertRegex(shown, f"(?m)^program +commit {commit[:7]} of trunk, with uncommitted changes$")
        written = self.run_cli("config", again, "--as-written", "--server", self.cluster.server).stdout
        text = (self.folder / "experiment.yaml").read_text()
        self.assertEqual(written, text.replace("canary-5f1c93d2", "<hidden>"))
        self.assertEqual(self.cluster.get(f"/api/v1/experiments/{again}/file"),
                         {"name": "experiment.yaml", "text": written})

    def test_workers_on_the_unix_socket_fetch_there_beside_a_tcp_port(self):
        self.cluster.workers = f"ipc://{self.cluster.state}/workers.sock"
        self.cluster.start_daemon("--http", "127.0.0.1:0", workers_open=False)
        self.cluster.wait_until_up()
        experiment = self.submit()["experiment"]
        self.cluster.start_worker(1)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual({trial["attempts"] for trial in self.cluster.trials(experiment)}, {1})

    def test_a_worker_without_room_tries_again(self):
        self.begin()
        experiment = self.submit()["experiment"]
        in_the_way = self.folder / "worker" / "contexts"
        in_the_way.parent.mkdir()
        in_the_way.write_text("")
        worker = self.cluster.start_worker(1)
        harness.wait_for(lambda: "trying again" in worker.said(), "the first try to fail", worker.said)
        in_the_way.unlink()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual({trial["restarts"] for trial in self.cluster.trials(experiment)}, {0})

    def test_what_the_daemon_does_not_have_any_more_pauses_the_search(self):
        self.begin()
        experiment = self.submit()["experiment"]
        for path in (self.cluster.state / "contexts").glob("*"):
            path.unlink()
        self.cluster.start_worker(1)
        harness.wait_for(lambda: self.cluster.state_of(experiment) == "PAUSED", "the search to pause itself")
        self.assertIn("cannot fetch the context", self.cluster.get(f"/api/v1/experiments/{experiment}")["reason"])
        self.assertIn("cannot fetch the context", self.cluster.trials(experiment)[0]["last_failure"])

    def test_the_daemon_has_a_limit_of_its_own(self):
        self.begin("--context-limit", "1")
        (self.context / "weights.bin").write_bytes(bytes(1_500_000))
        done = self.submit(expect=2)
        self.assertIn("at most 1 MB", done.stdout)
        self.assertIn("weights.bin (1.5 MB)", done.stdout)
        self.assertEqual(self.kept() if (self.cluster.state / "contexts").exists() else [], [])
        (self.context / ".hpsearchignore").write_text("*.bin\n")
        self.submit()

    def test_what_is_no_context_is_not_taken(self):
        self.begin()
        self.submit()
        kept = self.kept()
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("../evil"))
        hostile = out.getvalue()
        for digest, body, why in ((hashlib.sha256(hostile).hexdigest(), hostile, "../evil"),
                                  ("a" * 64, hostile, "it was changed on its way"),
                                  (hashlib.sha256(b"x" * 2000).hexdigest(), b"x" * 2000, "context")):
            status, said = self.put(digest, body)
            self.assertEqual(status, 400, said)
            self.assertIn(why, said)
        self.assertEqual(self.put("nonsense", b"")[0], 404)
        self.assertEqual(self.kept(), kept)
        status, said = self.cluster.call("POST", "/api/v1/experiments", {"config": {}, "context_digest": "a" * 64})
        self.assertIn(status, (400, 409), said)

    def test_requirements_and_the_hook_prepare_a_node_once(self):
        if subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True).returncode:
            self.skipTest("python3 has no pip")
        facts = {"METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
                 "WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "RECORD": ""}
        with zipfile.ZipFile(self.context / "tiny-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr("tiny.py", "WORD = 'from a requirement'\n")
            for name, text in facts.items():
                wheel.writestr(f"tiny-1.0.dist-info/{name}", text)
        (self.context / "requirements.txt").write_text("./tiny-1.0-py3-none-any.whl\n")
        (self.context / "startup-hook.sh").write_text(f"echo once >> {self.folder}/hook\n")
        (self.context / "train.sh").write_text(
            f"python3 -c 'import sys, tiny; print(tiny.WORD, sys.path[-1].endswith(\"/packages\"))' >> {self.folder}/words"
            " || exit 9\n"
            "echo 'HPSEARCH {\"step\": 1, \"loss\": 0.5}'\n")
        self.begin()
        self.cluster.start_worker(2)
        experiment = self.submit(environment={"requirements": "install"})["experiment"]
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))
        self.assertEqual((self.folder / "words").read_text(), "from a requirement True\n" * 4,
                         "what is installed comes behind the Python's own packages")
        self.assertEqual((self.folder / "hook").read_text(), "once\n")

    def test_requirements_are_not_installed_unasked(self):
        (self.context / "requirements.txt").write_text("./no-such-wheel.whl\n")
        self.begin()
        self.cluster.start_worker(2)
        experiment = self.submit()["experiment"]
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))

    def test_requirements_that_cannot_be_installed_fail_the_search_once(self):
        if subprocess.run(["python3", "-m", "pip", "--version"], capture_output=True).returncode:
            self.skipTest("python3 has no pip")
        (self.context / "requirements.txt").write_text("./no-such-wheel.whl\n")
        self.begin()
        self.cluster.start_worker(1)
        experiment = self.submit(environment={"requirements": "install"})["experiment"]
        self.assertEqual(self.cluster.wait_until_over(experiment), "FAILED", self.cluster.trials(experiment))
        shown = self.cluster.get(f"/api/v1/experiments/{experiment}")
        self.assertIn("requirements.txt could not be installed: ", shown["reason"])
        self.assertIn("no-such-wheel.whl", shown["reason"])
        self.assertEqual(sum(trial["attempts"] for trial in self.cluster.trials(experiment)), 1)

    def test_what_no_worker_can_run_is_told_at_submission(self):
        self.begin()
        self.cluster.start_worker(2)
        harness.wait_for(lambda: self.cluster.get("/api/v1/workers")["workers"], "the worker", lambda: "")
        for resources, why in (({"slots_per_trial": 8}, "a trial needs 8 slots, and no worker has more than 2"),
                               ({"resource_pool": "gpu"}, 'no worker in resource pool "gpu" is connected')):
            file = self.write_experiment({"entrypoint": ["sh", "train.sh"], "resources": resources,
                                          "searcher": {"name": "single", "metric": "loss", "max_length": 1}})
            done = self.run_cli("submit", file, self.context, "--server", self.cluster.server)
            self.assertIn(f"no trial runs yet: {why}", done.stderr)

    def test_in_place_is_the_directory_itself(self):
        self.begin()
        self.cluster.start_worker(1)
        experiment = self.submit(source="in_place", searcher={"name": "random", "metric": "loss", "max_trials": 1,
                                                              "max_length": {"epochs": 1}})["experiment"]
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual((self.context / "data.txt").read_text(), "two\n")
        self.assertEqual(self.kept() if (self.cluster.state / "contexts").exists() else [], [])
        self.assertEqual(self.cluster.get(f"/api/v1/experiments/{experiment}")["context_digest"], "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
