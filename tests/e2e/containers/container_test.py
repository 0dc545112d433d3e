"""Containers and bind mounts: what a container runtime is asked for, end to end, and what runs without one."""

import json
import os
import pathlib
import unittest

import harness

# Takes down what it was asked for, and runs the program with nothing but the variables it was given, as Podman would.
FAKE_PODMAN = """#!/usr/bin/python3
import json, os, sys
if sys.argv[1] == "version":
    sys.exit(%(version)d)
if sys.argv[1] == "rm":
    with open("%(folder)s/removed", "a") as file:
        file.write(" ".join(sys.argv[2:]) + "\\n")
    sys.exit(0)
words, given, mounts, place = sys.argv[2:], {"PATH": "/usr/bin:/bin"}, [], "/"
while words[0].startswith("-"):
    word = words.pop(0)
    value = words.pop(0) if word in ("--name", "--workdir", "--entrypoint", "--user", "--mount", "--env", "--device",
                                     "--security-opt") else ""
    if word == "--env":
        name, equals, text = value.partition("=")
        given[name] = text if equals else os.environ[name]
    elif word == "--mount":
        mounts.append(value)
    elif word == "--workdir":
        place = value
image, program = words[0], words[1:]
with open("%(folder)s/asked", "a") as file:
    json.dump({"argv": sys.argv[1:], "image": image, "mounts": mounts, "given": given}, file)
    file.write("\\n")
os.chdir(place)
os.execvpe(program[0], program, given)
"""


class Containers(harness.Case):
    def begin(self, version=0, variables=()):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        tools = self.folder / "tools"
        tools.mkdir()
        for name in ("sh", "timeout", "python3", "mkdir"):
            (tools / name).symlink_to(pathlib.Path("/usr/bin") / name)
        if version is not None:
            fake = tools / "podman"
            fake.write_text(FAKE_PODMAN % {"folder": self.folder, "version": version})
            fake.chmod(0o755)
        worker = harness.BIN / "hpsearch-worker"
        self.start("/usr/bin/env", f"PATH={tools}", "HOME=/home/of-the-worker", *variables, worker, "--daemon",
                   self.cluster.workers, "--state-dir", self.folder / "worker", "--slots", 1, log="worker.log")

    def submit(self, script, environment=None, **more):
        context = self.folder / "context"
        context.mkdir(exist_ok=True)
        (context / "train.sh").write_text(script + """\necho 'HPSEARCH {"step": 1, "loss": 0.5}'\n""")
        tree = {"entrypoint": ["sh", "train.sh"], "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
                "searcher": {"name": "random", "metric": "loss", "max_length": {"epochs": 1}, "max_trials": 1},
                "max_restarts": 0, "environment": environment or {}} | more
        return self.run_cli("submit", self.write_experiment(tree), context, "--server", self.cluster.server, "-o",
                            "json")["experiment"]

    def trial(self, experiment):
        return self.cluster.trials(experiment)[0]

    def test_a_program_runs_in_its_image(self):
        self.begin()
        data = self.folder / "data"
        data.mkdir()
        experiment = self.submit('test "$TOKEN" = "se cret" || exit 9; test -z "$HOME" || exit 8',
                                 {"image": "python:3.11", "environment_variables": {"TOKEN": "se cret"}},
                                 bind_mounts=[{"host_path": str(data), "container_path": "/data", "read_only": True}])
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.trial(experiment)["last_failure"])
        asked = json.loads((self.folder / "asked").read_text())
        attempt = self.folder / "worker" / "attempts" / "1-0-1"
        self.assertEqual(asked["image"], "python:3.11")
        self.assertEqual(asked["argv"][:2], ["run", "--rm"])
        self.assertIn("--network=host", asked["argv"])
        self.assertIn(f"type=bind,source={attempt},target={attempt}", asked["mounts"])
        self.assertIn(f"type=bind,source={data},target=/data,readonly", asked["mounts"])
        self.assertFalse([word for word in asked["argv"] if "cret" in word], "a secret stands among the arguments")
        self.assertEqual(asked["given"]["PAI_WORKING_DIR"], str(attempt / "ml" / "usercode"))
        again = self.submit("test -d /", {"image": "python:3.11"}, layout="/ml")
        self.cluster.wait_until_over(again)
        self.assertIn(f"type=bind,source={self.folder}/worker/attempts/2-0-1/ml,target=/ml",
                      json.loads((self.folder / "asked").read_text().splitlines()[-1])["mounts"])

    def test_what_the_container_leaves_is_killed_with_it(self):
        self.begin()
        experiment = self.submit("sleep 1000 & echo $! > \"$HPSEARCH_OUTPUT_DIR/../../../../../sleeper\"",
                                 {"image": "python:3.11"})
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.trial(experiment)["last_failure"])
        sleeper = int((self.folder / "sleeper").read_text())
        harness.wait_for(lambda: harness.start_time(sleeper) is None, "what it left to be gone")

    def test_a_container_whose_client_was_killed_is_removed(self):
        self.begin()
        self.cluster.wait_until_over(self.submit("true", {"image": "python:3.11"}))
        experiment = self.submit('kill -9 $$', {"image": "python:3.11"})
        self.assertEqual(self.cluster.wait_until_over(experiment), "FAILED")
        self.assertIn("signal 9", self.trial(experiment)["last_failure"])
        names = [json.loads(line)["argv"] for line in (self.folder / "asked").read_text().splitlines()]
        name = names[-1][names[-1].index("--name") + 1]
        self.assertEqual((self.folder / "removed").read_text(), f"--force {name}\n", "of those that ended well none is left")

    def test_a_launch_kind_says_in_the_container_what_it_says_without(self):
        self.begin(variables=("RANK=0", "WORLD_SIZE=4"))  # The worker may itself be somebody's job.
        experiment = self.submit('test "$RANK/$WORLD_SIZE/$NPROC_PER_NODE" = 0/1/1 || exit 9; '
                                 'test "$MASTER_ADDR" = 127.0.0.1 || exit 8; test "$MASTER_PORT" -gt 0 || exit 7; '
                                 'test "$HPSEARCH_ATTEMPT_MARK" = "$HPSEARCH_SOCKET" || exit 6',
                                 {"image": "python:3.11"}, launch={"kind": "pytorch"})
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.trial(experiment)["last_failure"])

    def check_refusal(self, version, why):
        self.begin(version)
        experiment = self.submit("true", {"image": "python:3.11"})
        self.assertEqual(self.cluster.wait_until_over(experiment), "FAILED")
        self.assertIn(why, self.trial(experiment)["last_failure"])

    def test_a_node_without_a_runtime_says_so(self):
        self.check_refusal(None, "none of apptainer, podman and docker is on its PATH")

    def test_a_client_without_its_daemon_is_no_runtime(self):
        self.check_refusal(3, "`version` fails for")

    def test_bind_mounts_without_an_image(self):
        self.begin(None)
        data = self.folder / "data"
        data.mkdir()
        (data / "seen").write_text("yes\n")
        experiment = self.submit("read -r seen < data/seen; test \"$seen\" = yes || exit 9; "
                                 "if (echo x > data/written) 2>/dev/null; then exit 8; fi",
                                 bind_mounts=[{"host_path": str(data), "container_path": "data", "read_only": True}])
        state = self.cluster.wait_until_over(experiment)
        if "may not mount" in self.trial(experiment)["last_failure"]:
            self.skipTest("this machine does not let workers mount; that the refusal is said was seen")
        self.assertFalse((data / "written").exists(), "a mount for reading was written")
        self.assertEqual(state, "COMPLETED", self.trial(experiment)["last_failure"])

    def test_bind_mounts_without_an_image_at_places_that_are_not_there(self):
        self.begin(None)
        data = self.folder / "data"
        data.mkdir()
        (data / "seen").write_text("yes\n")
        place = f"/hpsearch-test-{os.getpid()}"
        experiment = self.submit(
            f"read -r seen < {place}/deep/seen; test \"$seen\" = yes || exit 9; read -r one < {place}.txt; "
            "test \"$one\" = yes || exit 7; echo kept > kept || exit 8; test -s kept || exit 6; "
            f"test -f /mnt{place}/seen || exit 5; test -x /usr/bin/env || exit 4",
            bind_mounts=[{"host_path": str(data), "container_path": f"{place}/deep"},
                         {"host_path": str(data / "seen"), "container_path": f"{place}.txt", "read_only": True},
                         {"host_path": str(data), "container_path": f"/mnt{place}"}])
        state = self.cluster.wait_until_over(experiment)
        if "may not mount" in self.trial(experiment)["last_failure"]:
            self.skipTest("this machine does not let workers mount")
        self.assertEqual(state, "COMPLETED", self.trial(experiment)["last_failure"])
        self.assertFalse(os.path.exists(place) or os.path.exists(f"/mnt{place}"), "the machine was changed")

    def test_bind_mounts_below_a_directory_of_the_machine_need_their_place(self):
        self.begin(None)
        experiment = self.submit("exit 0", max_restarts=0, bind_mounts=[
            {"host_path": str(self.folder), "container_path": "/usr/hpsearch-test"}])
        self.assertEqual(self.cluster.wait_until_over(experiment), "FAILED")
        failure = self.trial(experiment)["last_failure"]
        if "may not mount" not in failure:
            self.assertIn("there is no /usr/hpsearch-test on this worker's machine to mount at; make it", failure)


if __name__ == "__main__":
    unittest.main(verbosity=2)
