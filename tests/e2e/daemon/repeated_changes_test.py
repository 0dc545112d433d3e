"""kill -9 of the daemon at its storage calls while changes are made: each is repeated under its key, and made once.

E2E_CHANGE_KILLS daemons (8). A death after a commit's fdatasync is one between the commit and its answer.
"""

import http.client
import json
import os
import sys
import unittest

import harness

KILLS = int(os.environ.get("E2E_CHANGE_KILLS", "8"))
LIBRARY = harness.BIN / "libkill_at_call.so"
ENOUGH = 400  # Changes in one life: its call comes long before.


class RepeatedChanges(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.order = self.folder / "order"
        self.done = self.folder / "order.done"
        self.changes = 0  # Made so far, each under its number as the key.
        self.seen_again = 0  # Those that were committed and not answered.
        self.made = {"experiments": 0, "leases": 0, "workspaces": 0, "tokens": 0}

    def begin(self, *order):
        self.order.write_text(" ".join(map(str, order)) + "\n")
        self.cluster.start_daemon(extra={"LD_PRELOAD": str(LIBRARY), "KILL_AT": str(self.order)})
        self.cluster.wait_until_up()

    def begin_again(self):
        self.cluster.daemon.popen.wait(harness.PATIENCE)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()

    def is_dead(self):
        return self.done.exists()

    def ask(self, method, path, body, key):
        """(status, answer, whether it is a repetition's); None when the daemon died over it."""
        connection = self.cluster.connection()
        try:
            connection.request(method, path, json.dumps(body),
                               {"Content-Type": "application/json", "Idempotency-Key": key})
            response = connection.getresponse()
            return response.status, json.loads(response.read()), response.headers.get("Idempotent-Replay") == "true"
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            self.assertTrue(self.is_dead(), f"the daemon has not answered {method} {path}\n{self.cluster.daemon.said()}")
            return None
        finally:
            connection.close()

    def small(self, **more):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 10_000,
                                                     "max_concurrent_trials": 10_000})
        return tree | more

    def next_change(self):
        """(what of self.made it adds to, method, path, body)"""
        number = self.changes
        return [("experiments", "POST", "/api/v1/experiments", {"config": self.small(name=f"n{number}")}),
                ("leases", "POST", "/api/v1/experiments/1/ask", {"count": 1}),
                ("workspaces", "POST", "/api/v1/workspaces", {"name": f"w{number}"}),
                ("tokens", "POST", "/api/v1/tokens", {"name": f"t{number}", "role": "viewer"})][number % 4]

    def change(self):
        """Makes the next one. True: the daemon died over it, and it was repeated in its next life."""
        what, method, path, body = self.next_change()
        key = f"change {self.changes}"
        self.changes += 1
        self.made[what] += 1
        answer = self.ask(method, path, body, key)
        died = answer is None
        if died:
            self.begin_again()
            answer = self.ask(method, path, body, key)
            # Files of tokens are not in the log: one that was made is refused, and the secret of it is lost.
            made_before = answer[2] or (what == "tokens" and answer[0] == 409)
            self.seen_again += made_before
            if made_before and what == "tokens" and answer[0] == 409:
                return True
        self.assertEqual(answer[0] // 100, 2, answer)
        again = self.ask(method, path, body, key)
        if again is not None:
            self.assertEqual(again[0] // 100, 2, again)
            self.assertTrue(again[2], "a repetition is answered as one")
        return died

    def count(self):
        experiments = self.cluster.experiments()
        trials = [each for each in self.cluster.trials(1) if each["state"] == "RUNNING"]
        workspaces = [each for each in self.cluster.get("/api/v1/workspaces")["workspaces"] if each["name"] != "default"]
        tokens = self.cluster.get("/api/v1/tokens")["tokens"]
        return {"experiments": len(experiments) - 1, "leases": len(trials), "workspaces": len(workspaces),
                "tokens": len(tokens)}

    def test_a_change_is_made_once_whenever_the_daemon_dies(self):
        rng = harness.seeded()
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        external = self.small(workers="external")
        del external["entrypoint"]
        self.cluster.submit(external)
        for number in range(KILLS):
            self.cluster.daemon.end()
            self.done.unlink(missing_ok=True)
            call, when = [("fdatasync", "after"), ("fdatasync", "before"), ("fdatasync", "after"), ("pwrite64", "after")][number % 4]
            self.begin("hpsearchd", call, rng.randrange(30, 80), when)
            for _ in range(ENOUGH):
                if self.change():
                    break
                if self.is_dead():  # Over a repetition, which changes nothing.
                    self.begin_again()
                    break
            self.assertTrue(self.is_dead(), "the daemon did not come to its call")
            self.assertEqual(self.count(), self.made)
        print(f"{self.changes} changes, {KILLS} deaths, {self.seen_again} of them between commit and answer", file=sys.stderr)
        self.assertGreater(self.seen_again, 0)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
