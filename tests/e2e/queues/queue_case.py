"""A daemon with a queue on another scheduler, whichever it is."""

import harness

IDLE = 3


class QueueCase(harness.Case):
    """`backend` names the scheduler for `alloc add`. start_scheduler() starts one and returns it: its `environment` is for the daemon,
    unfinished() are its jobs that wait or run."""

    backend = ""

    def setUp(self):
        super().setUp()
        self.scheduler = self.start_scheduler()
        self.cluster = harness.Cluster(self)
        self.begin_daemon()

    def begin_daemon(self):
        self.cluster.start_daemon("--lost-after", "20", workers_open=False, extra=self.scheduler.environment)
        self.cluster.wait_until_up()

    def cli(self, *arguments, expect=0):
        split = arguments.index("--") if "--" in arguments else len(arguments)
        return self.run_cli(*arguments[:split], "--server", self.cluster.server, *arguments[split:], expect=expect)

    def ask(self, path):
        status, answer = self.cluster.call("GET", f"/api/v1/{path}")
        self.assertEqual(status, 200, answer)
        return answer

    def until(self, done, what):
        harness.wait_for(done, what, lambda: f"{self.ask('queues')}\n{self.cluster.daemon.said()}")

    def add_queue(self, *options, arguments=(), limit="30m", workers=2, expect=0):
        return self.cli("alloc", "add", self.backend, "--name", "gpu", "--time-limit", limit, "--max-workers", str(workers),
                        "--backlog", "2", "--slots", "2", "--idle-timeout", f"{IDLE}s", *options, "--", *arguments, expect=expect)

    def submit(self, trials=20, epochs=3, **fake):
        return self.cluster.submit(harness.experiment(
            self.ledger_path, {"name": "random", "max_trials": trials, "max_length": {"epochs": epochs},
                               "max_concurrent_trials": 4}, fake={"STEP_SECONDS": 0.2} | fake))

    def show(self):
        return self.ask("queues/gpu")

    def ends(self):
        return [allocation["end"] for allocation in self.show()["allocations"] if allocation["end"]]

    def all_is_over(self):
        queue = self.show()
        return queue["pending"] + queue["running"] == 0

    def wait_for(self, experiment):
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")

    def restarts(self, experiment):
        return sum(trial["restarts"] for trial in self.cluster.trials(experiment))

    def judge_that_nothing_is_left(self):
        self.until(self.all_is_over, "all allocations to end")
        self.until(lambda: not self.ask("workers")["workers"], "all workers to be forgotten")
        self.until(lambda: not self.scheduler.unfinished(), "all jobs to end")
        self.assertEqual(self.ledger.alive(), [])
        keys = self.cluster.state / "worker_keys"
        self.assertNotIn("gpu-", keys.read_text() if keys.exists() else "", "keys go with their allocations")
        self.assertEqual(list(self.cluster.state.glob("alloc/**/invite")), [])
        self.assertEqual(self.ask("invites")["invites"], [])
