"""Whatever users and machines get wrong: one clear message that names the thing, and the right exit code."""

import http.server
import json
import resource
import shutil
import signal
import subprocess
import threading
import unittest

import harness

ONE = {"name": "random", "max_length": 2, "max_trials": 1}


class BadExperiment(harness.Case):
    """Experiments whose program does not do what it should, by `hpsearch run`."""

    def run_bad(self, expect, fake=None, searcher=ONE, **more):
        tree = harness.experiment(self.ledger_path, searcher, fake=fake, max_restarts=0, **more)
        done = self.run_cli("run", self.write_experiment(tree), "--slots", 2, expect=expect)
        return done.stdout + done.stderr

    def test_missing_program(self):
        said = self.run_bad(2, entrypoint=["./no-such-program"])
        self.assertIn("starts ./no-such-program, which isn't in the context directory", said)
        self.assertFalse(self.ledger_path.exists())

    def test_more_slots_than_this_machine_has(self):
        said = self.run_bad(2, resources={"slots_per_trial": 100_000})
        self.assertIn("no worker has 100000 slots", said)
        tree = harness.experiment(self.ledger_path, ONE, resources={"slots_per_trial": 100_000})
        done = self.run_cli("run", self.write_experiment(tree), "--slots", "cpu", expect=2)
        self.assertIn("slots_per_trial is 100000, and no worker has more than", done.stderr)

    def test_program_that_dies_at_once(self):
        said = self.run_bad(7, fake={"MODE": "dies"})
        self.assertIn("fake_training: cannot go on", said)
        self.assertIn("3", said)

    def test_program_that_reports_nothing(self):
        said = self.run_bad(None, fake={"MODE": "silent"})
        self.assertIn("loss", said, "the message must name the metric that never came")

    def test_metric_that_is_always_nan_pauses_the_search_once(self):
        said = self.run_bad(7, fake={"MODE": "nan"}, searcher={"name": "adaptive_asha", "max_length": 9,
                                                              "max_trials": 6, "divisor": 3})
        self.assertIn("every loss that they reported was NaN", said)
        self.run_cli("run", self.folder / "experiment.yaml", "--slots", 2)
        self.assertEqual(len(self.ledger.final_lengths()), 6)

    def test_wrong_file_names_every_mistake_with_its_line(self):
        path = self.folder / "wrong.yaml"
        path.write_text("entrypoint: [/bin/true]\n"
                        "hyperparameters:\n"
                        "  lr: {type: double, minval: 2, maxval: 1}\n"
                        "searcher:\n"
                        "  name: adaptive_asha\n"
                        "  metric: loss\n"
                        "  max_lenght: 9\n"
                        "  max_trials: -1\n")
        for verb in ("validate", "preview", "run", "submit"):
            done = self.run_cli(verb, path, expect=2)
            for line, word in ((3, "maxval"), (7, "max_length"), (8, "max_trials")):
                self.assertRegex(done.stderr, rf"wrong\.yaml:{line}: [^\n]*{word}", verb)

    def test_missing_file(self):
        done = self.run_cli("run", self.folder / "nowhere.yaml", expect=2)
        self.assertIn("nowhere.yaml", done.stderr)

    def test_missing_context_directory(self):
        file = self.write_experiment(harness.experiment(self.ledger_path, ONE))
        done = self.run_cli("run", file, self.folder / "gone", expect=2)
        self.assertIn(str(self.folder / "gone"), done.stderr)

    def test_slots_that_the_worker_does_not_know(self):
        for slots in ("many", "0", "auto*0", ""):
            file = self.write_experiment(harness.experiment(self.ledger_path, ONE))
            done = self.run_cli("run", file, "--fresh", "--slots", slots, expect=2)
            self.assertIn(f'"{slots}"', done.stderr)
        self.assertFalse(self.ledger_path.exists(), "a training ran in slots that are none")

    def test_no_daemon(self):
        done = self.run_cli("list", "--server", f"127.0.0.1:{harness.free_port()}", expect=6)
        self.assertIn("127.0.0.1", done.stderr)


class BadSurroundings(harness.Case):
    def test_program_that_runs_past_its_length_is_ended(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        self.start("hpsearch-worker", "--daemon", cluster.workers, "--state-dir", self.folder / "worker", "--slots", 1,
                   "--grace", 1, log="worker.log")
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 2, "max_trials": 2},
                                  fake={"MODE": "runs_past", "STEP_SECONDS": 0.05})
        experiment = cluster.submit(tree)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual({line["why"] for line in self.ledger.of("end")}, {"terminated"})
        self.assertEqual(self.ledger.most_at_once(), 1)

    def test_context_directory_that_is_gone_when_the_trial_starts(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        context = self.folder / "context"
        context.mkdir()
        tree = harness.experiment(self.ledger_path, ONE, max_restarts=0)
        status, answer = cluster.call("POST", "/api/v1/experiments",
                                      {"config": tree, "name": "e2e", "context_directory": str(context)})
        self.assertEqual(status, 201, answer)
        shutil.rmtree(context)
        cluster.start_worker(1)
        self.assertEqual(cluster.wait_until_over(answer["experiment"]), "FAILED")
        self.assertIn(str(context), json.dumps(cluster.get(f"/api/v1/experiments/{answer['experiment']}/trials/0")))

    def test_state_directory_of_another_daemon(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        second = self.start("hpsearchd", "--state-dir", cluster.state, "--workers", "tcp://127.0.0.1:0", log="second.log")
        self.assertEqual(second.popen.wait(harness.PATIENCE), 4)
        self.assertIn(str(cluster.state), second.said())
        self.assertIn(str(cluster.daemon.popen.pid), second.said())

    def test_state_directory_of_another_worker(self):
        cluster = harness.Cluster(self)
        first = cluster.start_worker(1)
        harness.wait_for(lambda: (self.folder / "worker" / "worker.json").exists(), "the first worker to be up")
        second = cluster.start_worker(1)
        self.assertEqual(second.popen.wait(harness.PATIENCE), 4)
        self.assertIn(str(self.folder / "worker"), second.said())
        self.assertIn(str(first.popen.pid), second.said())

    def test_state_directory_of_another_run(self):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 400, "max_trials": 1},
                                  fake={"STEP_SECONDS": 0.05})
        file = self.write_experiment(tree)
        first = subprocess.Popen([str(harness.BIN / "hpsearch"), "run", str(file)], cwd=self.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.environment())
        self.addCleanup(first.wait)
        self.addCleanup(first.send_signal, signal.SIGINT)
        harness.wait_for(lambda: self.ledger.of("step"), "the first run to be under way")
        done = self.run_cli("run", file, expect=4)
        self.assertIn(".hpsearch/experiment", done.stderr)
        self.assertIn(str(first.pid), done.stderr)

    def test_port_in_use(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as other:
            threading.Thread(target=other.serve_forever, daemon=True).start()
            address = f"127.0.0.1:{other.server_address[1]}"
            for for_clients, for_workers in ((address, "tcp://127.0.0.1:0"), ("127.0.0.1:0", f"tcp://{address}")):
                daemon = self.start("hpsearchd", "--state-dir", self.folder / "daemon", "--http", for_clients,
                                    "--workers", for_workers, log="daemon.log")
                self.assertEqual(daemon.popen.wait(harness.PATIENCE), 1, daemon.said())
                self.assertIn(address, daemon.said())
                daemon.log.unlink()
            other.shutdown()

    def test_full_disk_loses_nothing_that_was_acknowledged(self):
        # A limit on the size of files is what a full disk looks like from inside, and needs no privileges.
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (256 * 1024, 256 * 1024))

        cluster = harness.Cluster(self)
        log = self.folder / "small.log"
        with open(log, "wb") as output:
            daemon = subprocess.Popen([str(harness.BIN / "hpsearchd"), "--state-dir", str(cluster.state), "--workers",
                                       cluster.workers, "--workers-open"], stdout=output, stderr=output,
                                      stdin=subprocess.DEVNULL, env=harness.environment(), preexec_fn=small_disk)
        self.addCleanup(lambda: daemon.poll() is None and daemon.kill())
        harness.wait_for(lambda: cluster.try_call("GET", "/healthz") is not None or daemon.poll() is not None,
                         "the daemon to answer")
        tree = harness.experiment(self.ledger_path, {"name": "grid", "max_length": 1})
        tree["hyperparameters"] = {"x": {"type": "double", "minval": 0, "maxval": 1, "count": 5}}
        acknowledged = []
        status = 201
        while status == 201:
            connection = cluster.connection(timeout=3)
            try:
                connection.request("POST", "/api/v1/experiments", json.dumps({"config": tree, "name": "e2e"}),
                                   {"Content-Type": "application/json"})
                response = connection.getresponse()
                status = response.status
                answer = json.loads(response.read())
            except TimeoutError:
                break  # The one that found the disk full waits with it; only those after it are told at once.
            finally:
                connection.close()
            if status == 201:
                acknowledged.append(answer["experiment"])
        self.assertTrue(acknowledged)
        self.assertEqual(cluster.get("/healthz")["storage"], "full")
        status, answer = cluster.call("POST", "/api/v1/experiments", {"config": tree, "name": "e2e"})
        self.assertEqual(status, 507, answer)
        self.assertIn(str(cluster.state), answer["error"]["message"])
        self.assertIsNone(daemon.poll(), log.read_text())
        daemon.terminate()
        self.assertEqual(daemon.wait(harness.PATIENCE), 74, log.read_text())
        self.assertIn(str(cluster.state), log.read_text())

        cluster.start_daemon()  # on a disk with room
        cluster.wait_until_up()
        known = [experiment["id"] for experiment in cluster.experiments()]
        self.assertLessEqual(set(acknowledged), set(known))


if __name__ == "__main__":
    unittest.main()
