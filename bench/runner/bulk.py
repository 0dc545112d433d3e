"""Answers about whole experiments, from a real daemon with a made store."""

import http.client
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from .report import build, duration, make_store, markdown_table, provenance, publish

SHORT = "small sizes, once, to the terminal: does it run?"
RUNS = 5
READS = (  # what, path below the experiment, headers, goal
    ("columns, binary", "columns", {"Accept": "application/vnd.hpsearch.columns"}, "6 MB, 400 ms"),
    ("columns, JSON", "columns", {}, ""),
    ("columns, a sample of 2,000", "columns?sample=2000", {"Accept": "application/vnd.hpsearch.columns"}, ""),
    ("columns, a condition", "columns?where=metric%3C0.5%20and%20rung%3E%3D1", {}, ""),
    ("trials, sorted", "trials?sort=metric&limit=100", {}, "10 ms"),
    ("history", "history", {}, ""),
    ("rungs", "rungs", {}, ""),
    ("rungs in the middle of the log", "rungs?at={middle}", {}, ""),
    ("timeline", "timeline", {}, ""),
    ("importance", "importance", {}, ""),
    ("curves of 60 trials", "curves", {}, ""),
    ("density of all curves", "curves?mode=density", {}, "1 s for 10^7 values"),
)


def run(arguments):
    directory = build("make_store", "hpsearchd")
    made_by = provenance("scripts/bench bulk")
    sizes = (100, 10_000) if arguments.short else (100, 10_000, 100_000)
    rows = []
    for trials in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            make_store(f"{scratch}/state", trials)
            rows += bulk_rows(directory / "bin" / "hpsearchd", f"{scratch}/state", trials, arguments.short)
    text = made_by + f"- medians of {RUNS} requests over TCP, one after the other; the daemon has nothing else to do\n\n"
    text += markdown_table(["answer", "trials", "time", "first", "size", "longest turn of the loop", "goal"], rows)
    publish("bulk", text, arguments.short)


def bulk_rows(program, state, trials, short):
    log = open(f"{state}.log", "w", encoding="utf-8")
    with subprocess.Popen([str(program), "--state-dir", state, "--http", "127.0.0.1:0", "--http-open"], stdout=log,
                          stderr=log) as daemon:
        try:
            address = bulk_address(f"{state}.log")
            connection = http.client.HTTPConnection(address, timeout=120)
            last = json.loads(bulk_get(connection, "/api/v1/status")[0])["lsn"]
            rows = []
            for what, path, headers, goal in READS:
                times, body = [], b""
                bulk_turn(connection)
                for _ in range(1 if short else RUNS):
                    body, seconds = bulk_get(connection, "/api/v1/experiments/1/" + path.format(middle=last // 2), headers)
                    times.append(seconds)
                rows.append([what, f"{trials:,}", duration(1e9 * statistics.median(times)), duration(1e9 * times[0]),
                             f"{len(body) / 1e6:.2f} MB", duration(1e9 * bulk_turn(connection)), goal])
            return rows
        finally:
            daemon.terminate()


def bulk_get(connection, path, headers=None):
    started = time.monotonic()
    connection.request("GET", path, headers=headers or {})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit(f"bench: {path} was answered with {answer.status}: {body[:500]}")
    return body, time.monotonic() - started


def bulk_turn(connection):
    """The longest turn of the daemon's loop since this was asked before, in seconds."""
    text = bulk_get(connection, "/metrics")[0].decode()
    found = re.search(r"^\S*event_loop_turn_max_seconds (\S+)", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def bulk_address(log):
    for _ in range(600):
        found = re.search(r"ready: .*?(127\.0\.0\.1:\d+)", pathlib.Path(log).read_text(encoding="utf-8"))
        if found:
            return found[1]
        time.sleep(0.1)
    sys.exit(f"bench: the daemon did not start:\n{pathlib.Path(log).read_text(encoding='utf-8')}")
