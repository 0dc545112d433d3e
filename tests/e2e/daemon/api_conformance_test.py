"""Is the description of the HTTP API true? Schemathesis asks a real daemon for every route of it, with good and with bad
values, and compares each answer with the description.

CONFORMANCE_SECONDS=300: for so long (scripts/soak); otherwise a share of a minute. E2E_SEED: the values."""

import json
import os
import subprocess
import sys
import unittest
import urllib.request

import harness

PROGRAM = harness.ROOT / "build" / "schemathesis" / "bin" / "schemathesis"
SECONDS = int(os.environ.get("CONFORMANCE_SECONDS", "60"))
SEED = os.environ.get("E2E_SEED", "1")
# Numbers of things that exist, and one of nothing: whatever a number is drawn from otherwise, it never hits.
KNOWN = {"experiment": [1, 2, 3, 999], "trial": [0, 1, 2, 3, 999], "worker": [1, 999], "attempt": [1, 2, 999]}


def with_known_numbers(description):
    for item in description["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                if parameter.get("in") == "path" and parameter["name"] in KNOWN:
                    parameter["schema"] = {"type": "integer", "enum": KNOWN[parameter["name"]]}
            content = operation.get("requestBody", {}).get("content", {})
            if "application/x-tar" in content:  # Schemathesis makes no archives: what it sends is refused by its type.
                content["application/octet-stream"] = content.pop("application/x-tar")
    return description


@unittest.skipUnless(PROGRAM.exists(), f"{PROGRAM} is missing: scripts/setup test makes it where PyPI can be reached")
class ApiConformance(harness.Case):
    def test_every_route_answers_as_the_description_says(self):
        port = harness.free_port()
        cluster = harness.Cluster(self)
        cluster.start_daemon("--http", f"127.0.0.1:{port}", "--http-open")
        cluster.wait_until_up()
        cluster.start_worker(2)
        searcher = {"name": "adaptive_asha", "max_length": 9, "max_trials": 8, "divisor": 3}
        finished = cluster.submit(harness.experiment(self.ledger_path, searcher))
        cluster.wait_until_over(finished)
        for _ in range(2):
            cluster.submit(harness.experiment(self.ledger_path, searcher | {"max_length": 27, "max_trials": 500},
                                              fake={"STEP_SECONDS": 0.2}))
        url = f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(f"{url}/api/v1/openapi.json", timeout=30) as answer:
            description = with_known_numbers(json.load(answer))
        place = self.folder / "openapi.json"
        place.write_text(json.dumps(description))
        ran = subprocess.run(
            [PROGRAM, "run", place, "--url", url, "--seed", SEED, "--max-time", str(SECONDS), "--phases", "coverage,fuzzing",
             "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
             "--generation-database", "none", "--max-failures", "20", "--no-shrink", "--request-timeout", "30",
             "--suppress-health-check", "all", "--warnings", "off", "--no-color"],
            cwd=self.folder, capture_output=True, text=True, timeout=SECONDS * 4 + 300)
        print(ran.stdout[-3000:], file=sys.stderr)
        self.assertEqual(ran.returncode, 0, ran.stdout[-20_000:] + ran.stderr[-3000:])
        self.assertIsNone(cluster.daemon.popen.poll(), cluster.daemon.said())


if __name__ == "__main__":
    unittest.main()
