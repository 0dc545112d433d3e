"""Events at many subscribers, and what they cost the others."""

import json
import sys
import tempfile

from .report import BUILD, ROOT, build, duration, load_line, make_store, markdown_table, output_of, provenance, publish

SHORT = "100 subscribers, to the terminal: does it run?"


def run(arguments):
    build("hpsearchd", "make_store")
    made_by = provenance("scripts/bench streams")
    load = load_line()
    with tempfile.TemporaryDirectory(prefix="hpsearch-bench-") as folder:
        trials = "2000" if arguments.short else "100000"
        make_store(f"{folder}/state", trials)
        sizes = ["--subscribers", "100", "--changes", "50"] if arguments.short else []
        run = json.loads(output_of(sys.executable, ROOT / "bench" / "streams" / "measure.py", BUILD / "bin",
                                   f"{folder}/state", *sizes))
    ratio = lambda kind: f"{run[kind + '_p50'] / run['alone_p50']:.2f} (p99 {run[kind + '_p99'] / run['alone_p99']:.2f})"
    table = markdown_table(["figure", "goal", "measured"], [
        [f"an event at {run['subscribers']:,} subscribers after its answer, p99", "100 ms",
         f"{duration(1e9 * run['delay_p99'])} (p50 {duration(1e9 * run['delay_p50'])})"],
        ["events that did not come", "0", f"{run['missing']}"],
        [f"a change's answer with {run['subscribers']:,} subscribers of events, against none", "1.2", ratio("subscribed")],
        [f"the same with {run['pages']} subscribers of changes", "1.2", ratio("paged")],
        ["memory of a subscriber", "32 KiB", f"{run['bytes_each'] / 1024:.0f} KiB"],
        [f"resuming {run['resumed_events']:,} events, events a second", "100,000", f"{run['resumed_per_second']:,.0f}"],
    ])
    publish("streams", made_by + load + "\n" + table, arguments.short)
