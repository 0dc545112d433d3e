"""Queues of allocations on a real Slurm: jobs come when trials wait, and go when none does."""

import os
import pathlib
import signal
import sys
import time
import unittest

import harness
import queue_case
import slurm_cluster

KILLS = int(os.environ.get("E2E_SUBMISSION_KILLS", "4"))


@unittest.skipIf(slurm_cluster.missing(), f"no Slurm here: {', '.join(slurm_cluster.missing())} (scripts/setup test)")
class QueueCase(queue_case.QueueCase):
    """A daemon with a queue on a Slurm of its own."""

    backend = "slurm"

    def start_scheduler(self):
        self.slurm = slurm_cluster.SlurmCluster(self.folder / "slurm")
        self.addCleanup(self.slurm.stop)
        self.slurm.start()
        return self.slurm

    def add_queue(self, *options, arguments=("-p", "main", "-c", "2"), **others):
        return super().add_queue(*options, arguments=arguments, **others)


class SlurmQueue(QueueCase):
    def test_a_search_gets_its_workers_and_leaves_nothing(self):
        said = self.add_queue()
        self.assertIn("Slurm would take the job", said.stdout)
        self.assertEqual(self.slurm.jobs(), {}, "a check starts nothing")
        experiment = self.submit()
        self.wait_for(experiment)
        self.judge_that_nothing_is_left()
        self.assertEqual(set(self.ends()) - {"idle", "canceled"}, set(), self.show())
        self.assertIn("idle", self.ends())
        self.assertLessEqual(len(self.ends()), 4)
        self.assertIn("it asks for nothing", self.cli("explain", "queue", "gpu").stdout)
        self.assertIn("hpsearch-worker", self.cli("alloc", "script", "gpu").stdout)
        self.cli("alloc", "remove", "gpu")
        self.assertEqual(self.ask("queues"), {"queues": []})
        self.until(lambda: not list(self.cluster.state.glob("alloc/*/*")), "its directories are removed")

    def test_nothing_secret_is_in_arguments_environment_or_jobs(self):
        self.add_queue()
        self.submit(trials=2, STEP_SECONDS=1)
        self.until(lambda: self.show()["joined"] > 0, "a worker to join")
        secrets = [file.read_text() for file in self.cluster.state.glob("alloc/gpu/*/invite")]
        self.assertTrue(all(secrets) and secrets)
        for file in [*pathlib.Path("/proc").glob("[0-9]*/environ"), *pathlib.Path("/proc").glob("[0-9]*/cmdline")]:
            try:
                text = file.read_bytes().decode(errors="replace")
            except OSError:
                continue
            self.assertFalse([True for secret in secrets if secret in text], file)
        said = self.slurm.ask("scontrol", "show", "job", "-d")
        said += "".join(file.read_text() for file in self.cluster.state.glob("alloc/gpu/*/*.sh"))
        self.assertFalse([True for secret in secrets if secret in said])
        self.cli("alloc", "remove", "gpu", "--now")

    def test_what_cannot_start_is_refused_with_the_reason(self):
        refused = self.add_queue(arguments=("-p", "nowhere"), expect=4)
        self.assertIn("invalid partition", refused.stdout)
        refused = self.add_queue(arguments=("-p", "short"), expect=4)
        self.assertIn("partition short runs jobs for at most", refused.stdout)
        refused = self.add_queue(arguments=("--time", "5"), expect=4)
        self.assertIn("use --time-limit", refused.stdout)
        self.assertEqual(self.slurm.jobs(), {})
        self.add_queue("--no-check", arguments=("-p", "nowhere"))
        self.submit()
        self.until(lambda: self.show()["failures"] > 0, "the queue has failed")
        self.assertIn("invalid partition", self.show()["last_failure"])
        self.cli("alloc", "remove", "gpu", "--now")

    def test_jobs_canceled_by_hand_are_no_failure(self):
        self.add_queue()
        experiment = self.submit(trials=6, STEP_SECONDS=1)
        self.until(lambda: self.show()["joined"] > 0, "a worker joined")
        for job in self.slurm.unfinished():
            self.slurm.ask("scancel", job)
        self.until(lambda: "canceled_there" in self.ends() or "preempted" in self.ends(), "the end is known")
        self.assertEqual(self.show()["failures"], 0)
        self.assertEqual(self.show()["state"], "active")
        self.wait_for(experiment)
        self.assertEqual(sum(trial["restarts"] for trial in self.cluster.trials(experiment)), 0)
        self.judge_that_nothing_is_left()

    def test_a_preempted_job_loses_no_trial(self):
        self.add_queue()
        experiment = self.submit(trials=8, STEP_SECONDS=0.5)
        self.until(lambda: self.show()["joined"] == 2, "both workers to join")
        self.slurm.ask("sbatch", "--partition=urgent", "--nodes=3", "--exclusive", "--time=5", "--output=/dev/null",
                       "--wrap=sleep 5", check=True)
        self.until(lambda: len(self.ends()) >= 2, "both allocations to end")
        self.assertEqual(set(self.ends()[:2]) - {"preempted", "canceled_there"}, set(), self.show())
        self.assertEqual(self.show()["state"], "active")
        self.assertEqual(self.show()["failures"], 0)
        self.wait_for(experiment)
        self.assertEqual(sum(trial["restarts"] for trial in self.cluster.trials(experiment)), 0)
        self.judge_that_nothing_is_left()

    def test_nothing_follows_from_a_controller_that_is_away(self):
        self.add_queue()
        experiment = self.submit(trials=12, STEP_SECONDS=1)
        self.until(lambda: self.show()["joined"] == 2, "both workers to join")
        self.slurm.processes[0].terminate()
        self.slurm.processes[0].wait(20)
        time.sleep(25)  # Two looks at least.
        queue = self.show()
        self.assertEqual((queue["state"], queue["running"], queue["joined"]), ("active", 2, 2))
        self.slurm.begin("slurmctld", "-D", "-f", self.slurm.root / "slurm.conf")
        self.wait_for(experiment)
        self.judge_that_nothing_is_left()

    def test_programs_do_not_outlive_an_agent_that_was_killed(self):
        self.add_queue()
        experiment = self.submit(trials=1, STEP_SECONDS=600)
        self.until(lambda: self.ledger.alive(), "a training to begin")
        training = self.ledger.alive()[0]
        self.cluster.call("POST", "/api/v1/queues/gpu/pause")
        for agent in agents(self.cluster.state):
            os.kill(agent, signal.SIGKILL)
        for job in self.slurm.unfinished():
            self.slurm.ask("scancel", job)
        self.assertEqual(self.ledger.alive(), [training], "its shim waits for another agent for a minute")
        self.until(lambda: not self.ledger.alive(), "the training to end")
        self.cluster.call("POST", f"/api/v1/experiments/{experiment}/kill")
        self.judge_that_nothing_is_left()

    def test_a_killed_daemon_finds_its_jobs_again(self):
        self.add_queue()
        experiment = self.submit(trials=max(12, 8 * KILLS), STEP_SECONDS=0.5)
        jobs = set()
        for number in range(KILLS):
            jobs |= set(self.slurm.jobs())  # Slurm forgets a job five minutes after its end.
            if number % 2:  # So that the daemon asks for another job.
                for job in self.slurm.unfinished():
                    self.slurm.ask("scancel", job)
            time.sleep(harness.PORTS.uniform(0, 2))
            self.cluster.kill_daemon()
            self.begin_daemon()
        self.wait_for(experiment)
        known = {event["job"] for event in self.ask("events?type=allocation_submitted&limit=1000")["events"]}
        self.assertEqual(jobs | set(self.slurm.jobs()), known, "jobs of Slurm are the allocations of the log")
        self.judge_that_nothing_is_left()


def agents(state):
    """Process numbers of the workers in allocations of this daemon."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/hpsearch-worker") and b"--alloc" in words and belongs_to(process, state):
            found.append(int(process.name))
    return found


def belongs_to(process, state):
    """The script that started the worker lies below the daemon's state directory."""
    try:
        parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
        return str(state).encode() in pathlib.Path("/proc", str(parent), "cmdline").read_bytes()
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
