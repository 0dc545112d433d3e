"""Clients that ask for trials and report, over the daemon's socket."""

import http.client
import json
import socket
import subprocess
import sys
import tempfile
import time

from .report import build, duration, load_line, markdown_table, output_of, provenance, publish

SHORT = "half a second each, to the terminal: does it run?"


def run(arguments):
    directory = build("hpsearchd", "ask_bench")
    made_by = provenance("scripts/bench ask")
    load = load_line()
    seconds = "0.5" if arguments.short else "5"
    runs = {}
    for clients in (16, 1):
        with tempfile.TemporaryDirectory(prefix="hpsearch-bench-") as folder:
            runs[clients] = ask_run(directory, f"{folder}/state", clients, seconds)
    rows = [[f"{what} a second, {clients} client{'s' if clients > 1 else ''}", goal, f"{runs[clients][what]['per_second']:,.0f}",
             duration(1e9 * runs[clients][what]["p50"]), duration(1e9 * runs[clients][what]["p99"])]
            for clients, what, goal in ((16, "asks", "2,000"), (16, "reports", "5,000"), (1, "asks", "300"), (1, "reports", "300"))]
    text = made_by + load + "\n" + markdown_table(["figure", "goal", "measured", "p50", "p99"], rows)
    publish("ask", text, arguments.short)


def ask_run(directory, state, clients, seconds):
    """What ask_bench measures on a new daemon."""
    daemon = subprocess.Popen([str(directory / "bin" / "hpsearchd"), "--state-dir", state, "--log-level", "error"],
                              stdin=subprocess.DEVNULL)
    try:
        config = {"workers": "external", "hyperparameters": {"lr": {"type": "double", "minval": 0, "maxval": 1}},
                  "searcher": {"name": "random", "metric": "loss", "max_length": {"epochs": 1_000_000}, "max_trials": 1_000_000,
                               "max_concurrent_trials": 1_000_000}}
        connection = http.client.HTTPConnection("localhost", timeout=60)
        for _ in range(600):
            connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.sock.connect(f"{state}/api.sock")
                break
            except OSError:
                connection.sock.close()
                time.sleep(0.1)
        connection.request("POST", "/api/v1/experiments", json.dumps({"config": config}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = json.loads(answer.read())
        if answer.status != 201:
            sys.exit(f"bench: the experiment was answered with {answer.status}: {body}")
        return json.loads(output_of(directory / "bench" / "ask_bench", f"{state}/api.sock", body["experiment"], clients,
                                    seconds))
    finally:
        daemon.terminate()
        daemon.wait()
