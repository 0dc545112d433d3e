"""The daemon's pages in a real Chromium, with made stores."""

import json
import os
import tempfile

from .report import ROOT, build, duration, load_line, make_store, markdown_table, output_of, provenance, publish

SHORT = "small sizes, to the terminal: does it run?"


def run(arguments):
    directory = build("make_store", "hpsearchd", "hpsearch")
    made_by = provenance("scripts/bench pages")
    load = load_line()
    sizes = (200, 2_000) if arguments.short else (10_000, 100_000)
    with tempfile.TemporaryDirectory(prefix="hpsearch-bench-") as folder:
        stores = []
        for trials in sizes:
            stores.append(f"{folder}/{trials}")
            make_store(stores[-1], trials)
        printed = output_of("node", ROOT / "bench" / "pages" / "measure.mjs", *stores,
                            env={**os.environ, "HPSEARCH_BIN_DIR": str(directory / "bin")})
    run = json.loads(printed.splitlines()[-1])
    small, large = (f"{trials:,} trials" for trials in sizes)
    time_of = lambda key: duration(1e6 * run[key])
    table = markdown_table(["figure", "goal", "measured"], [
        ["first contentful paint, nothing cached", "300 ms", time_of("first_paint")],
        ["list of 100 experiments, nothing cached", "500 ms", time_of("list")],
        [f"overview of {small}", "500 ms", time_of("overview_small")],
        [f"overview of {large}", "1 s", time_of("overview")],
        [f"parallel plot of {large}: a sample is seen", "1 s", time_of("parallel_sample")],
        ["… all are seen", "4 s", time_of("parallel")],
        ["… a frame while hovering, p95", "16 ms", time_of("hover_frame")],
        ["… a frame while brushing, p95", "32 ms", time_of("brush_frame")],
        ["… a frame at rest, p95: the screen's rate", "", time_of("idle_frame")],
        [f"scatter plot of {large}: a frame while zooming, p95", "17 ms", time_of("zoom_frame")],
        [f"table of {large}: sorted anew", "250 ms", time_of("sort")],
        ["longest task after the page was loaded", "200 ms", time_of("longest_task")],
        [f"a promotion seen on an open page after its decision, p95 of {run['promotions']}", "1 s",
         f"{time_of('promotion_p95')} (p50 {time_of('promotion')})"],
        [f"memory of scripts with {large}", "300 MB", f"{run['bytes'] / 1e6:.0f} MB"],
    ])
    publish("pages", made_by + load + "\n" + table, arguments.short)
