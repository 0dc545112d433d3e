"""Streams of events while connections are cut and the daemon is ended, killed and started again: nothing is lost and
nothing comes twice. E2E_STREAM_EVENTS events (1,500; `scripts/soak` 10,000) and E2E_STREAM_CUTS cuts (12; 50)."""

import http.client
import json
import os
import pathlib
import signal
import socket
import threading
import time
import unittest

import harness
from event_stream import Subscriber

EVENTS = int(os.environ.get("E2E_STREAM_EVENTS", "1500"))
CUTS = int(os.environ.get("E2E_STREAM_CUTS", "12"))
# An address sanitizer keeps what a program frees, up to 256 MiB: that is not the daemon's memory.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4"


class Changes(threading.Thread):
    """Pauses and resumes a search until it is told to stop: each is an event."""

    def __init__(self, cluster, experiment):
        super().__init__(daemon=True)
        self.cluster, self.experiment = cluster, experiment
        self.stopped = threading.Event()

    def run(self):
        connection, verb = None, "pause"
        while not self.stopped.is_set():
            try:
                connection = connection or self.cluster.connection()
                connection.request("POST", f"/api/v1/experiments/{self.experiment}/{verb}")
                response = connection.getresponse()
                response.read()
                verb = {"pause": "resume", "resume": "pause"}[verb]
            except (OSError, http.client.HTTPException):
                connection.close()
                connection = None
                time.sleep(0.01)
        if connection is not None:
            connection.close()

    def stop(self):
        self.stopped.set()
        self.join()


class StreamTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.experiment = self.cluster.submit(harness.experiment(self.ledger_path, {"name": "random", "max_trials": 4,
                                                                                    "max_length": {"batches": 4}}))

    def changes(self):
        changes = Changes(self.cluster, self.experiment)
        changes.start()
        self.addCleanup(changes.stop)
        return changes

    def stored(self, query=""):
        """All stored events as the list has them: {lsn: event}."""
        events, after = {}, 0
        while True:
            page = self.cluster.get(f"/api/v1/events?after={after}&limit=1000{query}")
            events |= {event["lsn"]: event for event in page["events"]}
            if page["last_lsn"] == after:
                return events
            after = page["last_lsn"]

    def restart(self, how):
        self.cluster.daemon.end(how)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()

    def test_cuts_and_restarts_lose_and_double_nothing(self):
        rng = harness.seeded()
        changes = self.changes()
        subscriber = Subscriber(self.cluster, "/api/v1/events")
        got, cuts = [], 0
        ending = None
        while cuts < CUTS or len(got) < EVENTS:
            try:
                self.assertEqual(subscriber.connect(), 200)
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
                continue
            enough = rng.choice([1, rng.randrange(10, 50), rng.randrange(50, 2 * EVENTS // CUTS)])
            for number, (lsn, event, data) in enumerate(subscriber.messages()):
                if event == "bye":
                    continue
                got.append((int(lsn), event, json.loads(data)))
                if number == enough and cuts < CUTS or len(got) >= EVENTS and cuts >= CUTS:
                    cuts += 1
                    break
            subscriber.cut()
            if ending is not None and not ending.is_alive():
                ending = None
            if ending is None and cuts < CUTS and rng.random() < 0.5:
                ending = threading.Thread(target=self.restart, args=[rng.choice([signal.SIGTERM, signal.SIGKILL])])
                ending.start()
        if ending is not None:
            ending.join()
        changes.stop()
        self.assertEqual([lsn for lsn, _, _ in got], list(range(1, len(got) + 1)))
        stored = self.stored()
        self.assertEqual([data for _, _, data in got], [stored[lsn] for lsn, _, _ in got])
        self.assertEqual([event for _, event, _ in got], [data["type"] for _, _, data in got])

    def test_the_daemon_says_goodbye(self):
        subscriber = Subscriber(self.cluster, "/api/v1/events")
        self.assertEqual(subscriber.connect(), 200)
        messages = subscriber.messages()
        self.assertEqual(next(messages)[1], "experiment_created")
        self.cluster.daemon.popen.send_signal(signal.SIGTERM)
        self.assertEqual([event for _, event, _ in messages][-1], "bye")
        subscriber.cut()
        self.assertEqual(self.cluster.daemon.popen.wait(60), 0)

    def test_a_selection_gets_its_events_and_how_far_the_log_is(self):
        changes = self.changes()
        harness.wait_for(lambda: self.cluster.get("/api/v1/status")["lsn"] > 300, "300 events")
        changes.stop()
        query = f"?experiment={self.experiment}&type=experiment_paused,experiment_created"
        subscriber = Subscriber(self.cluster, "/api/v1/events" + query)
        self.assertEqual(subscriber.connect(), 200)
        expected = [lsn for lsn, event in self.stored().items()
                    if event["type"] in ("experiment_paused", "experiment_created")]
        messages = subscriber.messages()
        self.assertEqual([int(next(messages)[0]) for _ in expected], expected)
        subscriber.cut()
        self.assertEqual(sorted(self.stored("&" + query[1:])), expected)
        for wrong in ("type=nonsense", "trial=1", "without=trial_create", "sort=x"):
            status, answer = self.cluster.call("GET", f"/api/v1/events?{wrong}", headers={"Accept": "text/event-stream"})
            self.assertEqual(status, 400, answer)

    def test_a_reader_that_does_not_read_is_cut_and_memory_stays_flat(self):
        changes = self.changes()
        status = pathlib.Path(f"/proc/{self.cluster.daemon.popen.pid}/status")
        memory = lambda: int(next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
        harness.wait_for(lambda: self.cluster.get("/api/v1/status")["lsn"] > 100, "events")
        before = memory()
        idle = []
        for _ in range(20):
            connection = self.cluster.connection()
            connection.connect()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.request("GET", "/api/v1/events", headers={"Accept": "text/event-stream"})
            idle.append(connection)
            self.addCleanup(connection.close)
        harness.wait_for(lambda: self.cluster.get("/api/v1/status")["lsn"] > 1500, "1,500 events")
        changes.stop()
        self.assertLess(memory() - before, 60, "MiB more than before 20 readers that do not read")
        self.assertEqual(self.cluster.call("GET", "/healthz")[0], 200)

    def test_a_slow_reader_is_cut_and_resumes(self):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_trials": 1, "max_length": {"batches": 1}})
        subscriber = Subscriber(self.cluster, "/api/v1/events?type=experiment_created")
        self.assertEqual(subscriber.connect(), 200)
        messages = subscriber.messages()
        self.assertEqual(next(messages)[1], "experiment_created")
        sent = [self.cluster.submit(tree | {"description": "long " * 60_000}) for _ in range(40)]
        got, connections = [], 1
        while len(got) < len(sent):
            got += [json.loads(data)["experiment"] for _, _, data in messages]
            if len(got) < len(sent):
                connections += 1
                self.assertEqual(subscriber.connect(), 200)
                messages = subscriber.messages()
                while len(got) < len(sent):
                    got.append(json.loads(next(messages)[2])["experiment"])
        subscriber.cut()
        self.assertEqual(got, sent)
        self.assertGreater(connections, 1, "12 MB were kept for a reader that did not read")

    def test_a_revoked_token_ends_its_stream(self):
        self.cluster.daemon.end()
        port = harness.free_port()
        self.cluster.start_daemon("--http", f"127.0.0.1:{port}")
        self.cluster.wait_until_up()
        _, made = self.cluster.call("POST", "/api/v1/tokens", {"name": "page", "role": "viewer"})
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/api/v1/events", headers={"Accept": "text/event-stream",
                                                             "Authorization": f"Bearer {made['token']}"})
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        self.assertEqual(response.readline(), b"retry: 1000\n")
        self.assertEqual(self.cluster.call("DELETE", f"/api/v1/tokens/{made['id']}")[0] // 100, 2)
        with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
            response.read()



class ChangesTest(harness.Case):
    """What pages follow: the last message has the last change."""

    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()

    def submit(self, trials, **fake):
        return self.cluster.submit(harness.experiment(self.ledger_path, {"name": "random", "max_trials": trials,
                                                                         "max_length": {"batches": 3}}, fake=fake))

    def test_changes_converge(self):
        experiment = self.submit(12)
        topics = f"experiments,experiment:{experiment},trials:{experiment},workers,cluster"
        subscriber = Subscriber(self.cluster, f"/api/v1/stream?topics={topics}")
        self.assertEqual(subscriber.connect(60), 200)
        # Followers of one topic get its sentences in different languages.
        for language, why in (("zh-CN", "没有工作节点连接"), ("en", "no worker is connected")):
            reader = Subscriber(self.cluster, f"/api/v1/stream?topics=experiment:{experiment}", language=language)
            self.assertEqual(reader.connect(60), 200)
            self.assertEqual(reader.response.headers["Content-Language"], language)
            _, _, data = next(reader.messages())
            self.assertEqual(json.loads(data)["experiment"]["waits_for"], why)
            reader.cut()
        seen, trials, first, times = {}, {}, {}, []
        self.cluster.start_worker(2)
        for _, topic, data in subscriber.messages():
            message = json.loads(data)
            self.assertEqual(message["topic"], topic)
            first.setdefault(topic, message)
            if topic == f"experiment:{experiment}":
                seen["experiment"] = message["experiment"]
                times.append(time.monotonic())
            elif topic == "experiments":
                seen["summary"] = next((one for one in message["experiments"] if one["id"] == experiment), None)
            elif topic == "workers":
                seen |= {f"worker {worker['id']}": worker for worker in message["workers"]}
            elif topic == f"trials:{experiment}":
                trials |= {trial["trial"]: trial for trial in message["trials"]}
            if "COMPLETED" == seen.get("experiment", {}).get("state") == (seen.get("summary") or {}).get("state") and \
                    len(trials) == 12 and all(trial["state"] == "COMPLETED" for trial in trials.values()):
                break
        subscriber.cut()
        self.assertEqual(set(first), set(topics.split(",")))
        self.assertTrue(all(message["full"] for message in first.values()), first)
        now = self.cluster.get(f"/api/v1/experiments/{experiment}")
        self.assertEqual({name: now[name] for name in ("state", "trials", "best", "rungs")},
                         {name: seen["experiment"][name] for name in ("state", "trials", "best", "rungs")})
        self.assertEqual([trials[number]["metric"] for number in sorted(trials)],
                         [trial["metric"] for trial in self.cluster.trials(experiment)])
        self.assertIn("worker 1", seen)
        # A stalled test may get two at once, but there are no more of them than of quarter seconds.
        self.assertLessEqual(len(times), 4 * (times[-1] - times[0]) + 3)

    def test_wrong_topics_are_refused(self):
        for topics, status in (("", 400), ("experiment", 400), ("experiments:3", 400), ("nonsense", 400),
                               ("experiment:x", 400), ("experiment:7", 404), ("trials:7", 404)):
            got, answer = self.cluster.call("GET", f"/api/v1/stream?topics={topics}")
            self.assertEqual(got, status, (topics, answer))

    def test_a_log_is_followed_to_its_end(self):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_trials": 1, "max_length": {"batches": 1}})
        tree["entrypoint"] = ["/bin/sh", "-c", "for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done; exit 0"]
        tree["max_restarts"] = 0
        experiment = self.cluster.submit(tree)
        self.cluster.start_worker(1)
        path = f"/api/v1/experiments/{experiment}/trials/0/log"
        harness.wait_for(lambda: self.cluster.try_call("GET", path), "the attempt to begin")
        subscriber = Subscriber(self.cluster, path + "?follow=1")
        self.assertEqual(subscriber.connect(60), 200)
        text, events = "", []
        for id, event, data in subscriber.messages():
            events.append(event)
            if event == "log":
                piece = json.loads(data)
                self.assertEqual(piece["offset"], len(text))
                text += piece["text"]
                self.assertEqual(int(id), len(text))
        subscriber.cut()
        self.assertEqual(events[-1], "end")
        self.assertEqual(text, "".join(f"line {i}\n" for i in range(1, 6)))


if __name__ == "__main__":
    unittest.main()
