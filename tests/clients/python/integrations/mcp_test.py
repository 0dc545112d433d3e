"""hpsearch-mcp, through the client of the protocol's SDK: over standard input and output, over HTTP, and in one process with a fake
daemon behind it. Runs in build/python-mcp (scripts/setup test)."""

import asyncio
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[4]
PACKAGE = ROOT / "clients" / "python"
sys.path[:0] = [str(PACKAGE), str(ROOT / "tests" / "docs"), str(pathlib.Path(__file__).resolve().parents[1])]

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import api_description
import hpsearch
from fake_daemon import VERSION, FakeDaemon, detail
from hpsearch.mcp import __main__, options, tools
from hpsearch.mcp.budget import Budget, Limits
from hpsearch.mcp.calls import Calls, Rules
from hpsearch.mcp.server import make_server, problems_of

CONFIG = {"entrypoint": ["true"], "searcher": {"name": "random", "metric": "loss", "max_length": 1, "max_trials": 4},
          "budget": {"max_slot_hours": 2}}
READING = ["list", "show", "config", "trials", "best", "explain", "importance", "curves", "logs", "files", "read_file", "wait", "preview"]


class Daemon:
    """Answers as a daemon that has `experiments`: number → (file, state, trials, slot seconds, labels, workspace)."""

    def __init__(self, folder, case):
        self.experiments = {}
        self.more = {}  # "METHOD path" → answer.
        self.archived = set()
        self.pause = 0.0  # Seconds before a list is answered.
        self.fake = FakeDaemon(folder, self.answer)
        case.addCleanup(self.fake.stop)

    def add(self, config, state="ACTIVE", trials=0, seconds=0, labels=("agent",), workspace="default"):
        self.experiments[len(self.experiments) + 1] = (config, state, trials, seconds, list(labels), workspace)
        return len(self.experiments)

    def described(self, number):
        config, state, trials, seconds, labels, workspace = self.experiments[number]
        return detail(state, id=number, trials_total=trials, slot_seconds=seconds, labels=labels, workspace=workspace)

    def asked(self, *methods):
        """"METHOD path" of the requests."""
        return ["{} {}".format(method, path) for method, path, _, _ in self.fake.asked if method in methods]

    def answer(self, method, path, headers, body):
        path, _, query = path.partition("?")
        found = self.more.get("{} {}".format(method, path))
        if found is not None:
            return found(query) if callable(found) else found
        given = json.loads(body)["config"] if method == "POST" and body else None
        if path == "/version":
            return 200, VERSION
        if path == "/api/v1/experiments/validate":
            return 200, {"valid": True, "problems": [], "notes": [], "to_confirm": given.get("doubtful", []), "config": given}
        if path == "/api/v1/experiments/preview":
            return 200, {"trials": given["searcher"]["max_trials"], "repeats": given["searcher"].get("repeats", 0)}
        if path == "/api/v1/experiments" and method == "POST":
            return 201, {"experiment": self.add(given, labels=given["labels"], workspace=given["workspace"])}
        if path == "/api/v1/experiments":
            wanted = dict(urllib.parse.parse_qsl(query))
            listed = [self.described(number) for number in self.experiments
                      if wanted.get("archived") == "all" or number not in self.archived]
            time.sleep(self.pause)
            return 200, {"next": None, "experiments": [one for one in listed if wanted.get("label", "agent") in one["labels"]
                                                       and wanted.get("workspace", one["workspace"]) == one["workspace"]]}
        place = re.fullmatch(r"/api/v1/experiments/(\d+)(/\w+)?", path)
        if place and int(place[1]) in self.experiments:
            number = int(place[1])
            if place[2] == "/config":
                return 200, self.experiments[number][0]
            return 200, self.described(number)
        return 404, {"type": "https://hpsearch.invalid/problems/not_found", "detail": "there is nothing at " + path}


class McpTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-mcp-"))
        self.addCleanup(shutil.rmtree, str(self.folder), ignore_errors=True)
        self.daemon = Daemon(self.folder, self)

    def server(self, allow=(), limits=Limits(2, 10, 5.0), workspace="default", root=None):
        client = hpsearch.Client(self.daemon.fake.address, timeout=30, retry_for=0)
        budget = Budget(client, limits, workspace, "agent") if allow else None
        return make_server(Calls(client, Rules(tuple(allow), budget, "default", root), problems_of))

    def call(self, server, *calls):
        """Answers to calls (tool, arguments): the answer, or the text of an error."""
        async def all_of_them():
            async with Client(server) as client:
                return [await client.call_tool(tool, arguments) for tool, arguments in calls]

        found = asyncio.run(all_of_them())
        for one in found:
            if not one.is_error:
                self.assertEqual(json.loads(one.content[0].text), one.structured_content)
        answers = [one.content[0].text if one.is_error else one.structured_content for one in found]
        return answers[0] if len(answers) == 1 else answers


class Tools(McpTest):
    def tools_of(self, server):
        async def listed():
            async with Client(server) as client:
                return (await client.list_tools()).tools

        return {tool.name: tool for tool in asyncio.run(listed())}

    def test_their_arguments_are_those_of_the_description_of_the_api(self):
        described = json.loads(api_description.PAGE.read_text())
        self.assertEqual(tools.API.read_text(), api_description.part_of_the_tools(described),
                         "Write it: python3 tests/docs/api_description.py --write build/dev/bin/hpsearchd")
        shown = self.tools_of(self.server(("submit", "change")))
        explain = shown["explain"].input_schema
        self.assertEqual((explain["required"], explain["properties"]["trial"]["type"]), (["experiment", "trial"], "integer"))
        self.assertTrue(shown["explain"].description.startswith("Explains why a trial is where it is."))
        self.assertEqual(shown["logs"].input_schema["properties"]["stream"]["enum"], ["stdout", "stderr"])
        self.assertEqual(set(shown["set"].input_schema["properties"]), {"experiment", "searcher", "resources", "budget"})

    def test_only_reading_is_allowed_without_a_word(self):
        shown = self.tools_of(self.server())
        self.assertEqual(list(shown), READING)
        self.assertTrue(all(tool.annotations.read_only_hint for tool in shown.values()))
        self.assertEqual(list(self.tools_of(self.server(["submit"]))), READING + ["budget", "submit"])
        changing = self.tools_of(self.server(["change"]))
        self.assertEqual(list(changing), READING + ["budget", "set", "pause", "resume", "cancel"])
        self.assertTrue(changing["cancel"].annotations.destructive_hint)
        number = self.daemon.add(CONFIG)
        refused, paused = self.call(self.server(), ("submit", {"config": CONFIG}), ("pause", {"experiment": number}))
        self.assertEqual(refused, "submit is not allowed here: hpsearch-mcp was started without --allow submit")
        self.assertEqual(paused, "pause is not allowed here: hpsearch-mcp was started without --allow change")
        self.assertEqual(self.daemon.asked("POST", "PATCH"), [])

    def test_wrong_arguments_are_named_with_what_is_allowed(self):
        answers = self.call(self.server(), ("explain", {"trial": "first"}), ("curves", {"experiment": 1, "smooth": True}),
                            ("logs", {"experiment": 1, "trial": 0, "stream": "both", "limit": 0}), ("explane", {}))
        self.assertEqual(answers[0],
                         'explain: trial is "first"; allowed: integer, at least 0, at most 9007199254740991; experiment is missing')
        self.assertEqual(answers[1], "curves: there is no argument smooth; there are experiment, metric, trials, points")
        self.assertIn("stream is \"both\"; allowed: stdout, stderr", answers[2])
        self.assertIn("limit is 0; allowed: integer, at least 1, at most 65536", answers[2])
        self.assertEqual(answers[3], "there is no tool explane; there are " + ", ".join(READING))
        self.assertEqual(self.daemon.fake.asked, [])

    def test_answers_and_problems_are_those_of_the_daemon(self):
        number = self.daemon.add(CONFIG, trials=3)
        shown, missing = self.call(self.server(), ("show", {"experiment": number}), ("explain", {"experiment": number, "trial": 5}))
        self.assertEqual(shown, self.daemon.described(number))
        self.assertEqual(missing, "there is nothing at /api/v1/experiments/1/trials/5/explain")

    def test_a_long_answer_is_refused_with_advice(self):
        self.daemon.more["GET /api/v1/experiments/1/trials"] = (200, {"trials": ["x" * 1000] * 200})
        self.daemon.add(CONFIG)
        self.assertRegex(self.call(self.server(), ("trials", {"experiment": 1, "limit": None})),
                         r"^the answer has 2\d{5} bytes, more than 120000; ask for less: limit, where$")
        self.assertIn("GET /api/v1/experiments/1/trials?limit=20", self.daemon.asked("GET"))

    def test_a_log_begins_near_its_end_and_a_search_at_its_beginning(self):
        self.daemon.more["GET /api/v1/experiments/1/trials/2/log"] = lambda query: (200, {"query": query})
        log = {"experiment": 1, "trial": 2}
        end, found, piece = self.call(self.server(), ("logs", log), ("logs", dict(log, q="nan")), ("logs", dict(log, offset=5, limit=7)))
        self.assertEqual(dict(urllib.parse.parse_qsl(end["query"])), {"limit": "16000", "offset": "16000", "from_end": "true"})
        self.assertEqual(dict(urllib.parse.parse_qsl(found["query"])), {"limit": "16000", "q": "nan"})
        self.assertEqual(dict(urllib.parse.parse_qsl(piece["query"])), {"limit": "7", "offset": "5"})

    def test_curves_without_trials_are_those_of_the_best(self):
        self.daemon.more["GET /api/v1/experiments/1/trials"] = lambda query: (200, {"trials": [{"trial": 8}, {"trial": 3}], "of": query})
        self.daemon.more["GET /api/v1/experiments/1/curves"] = lambda query: (200, {"query": query})
        curves = self.call(self.server(), ("curves", {"experiment": 1}))
        self.assertEqual(dict(urllib.parse.parse_qsl(curves["query"])), {"trials": "8,3", "points": "20"})
        self.assertIn("GET /api/v1/experiments/1/trials?sort=metric&limit=5", self.daemon.asked("GET"))

    def test_a_file_is_read_in_pieces_by_its_path(self):
        listed = [{"path": "out/notes.txt", "digest": "a" * 64, "worker": 3, "bytes": 10, "link": ""},
                  {"path": "model.bin", "digest": "b" * 64, "worker": 3, "bytes": 4, "link": ""},
                  {"path": "big", "digest": "c" * 64, "worker": 3, "bytes": 10**9, "link": ""}]
        below = "GET /api/v1/experiments/1/trials/0/files"
        self.daemon.more = {below: (200, {"files": listed}), below + "/" + "a" * 64: (200, b"0123456789"),
                            below + "/" + "b" * 64: (200, b"\0\1\2\3")}
        file = {"experiment": 1, "trial": 0}
        piece, binary, large, none = self.call(
            self.server(), ("read_file", dict(file, path="out/notes.txt", offset=2, limit=3)), ("read_file", dict(file, path="model.bin")),
            ("read_file", dict(file, path="big")), ("read_file", dict(file, path="../secret")))
        self.assertEqual(piece, {"path": "out/notes.txt", "size": 10, "offset": 2, "text": "234"})
        self.assertEqual(binary, "model.bin is no text; `hpsearch files` downloads it")
        self.assertEqual(large, "big has 1000000000 bytes, more than 8000000; `hpsearch files` downloads it")
        self.assertEqual(none, "trial 0 left no file '../secret'; `files` lists those that it left")

    def test_no_result_yet_comes_with_what_the_experiment_waits_for(self):
        self.daemon.add(CONFIG)
        self.daemon.more["GET /api/v1/experiments/1/best"] = (200, None)
        self.daemon.more["GET /api/v1/experiments/1"] = (200, detail(waits_for="no worker is connected"))
        self.assertEqual(self.call(self.server(), ("best", {"experiment": 1})),
                         {"best": None, "state": "ACTIVE", "reason": "", "waits_for": "no worker is connected", "notes": []})

    def test_waiting_ends_with_the_experiment_or_its_bound_and_reports_progress(self):
        states = [detail(progress=0.25), detail(progress=0.75), detail("COMPLETED", progress=1.0)]
        self.daemon.more["GET /api/v1/experiments/1"] = lambda _: (200, states.pop(0) if len(states) > 1 else states[0])
        seen = []

        async def waiting():
            async def progress(done, total, message):
                seen.append((done, total, message))

            async with Client(self.server()) as client:
                over = await client.call_tool("wait", {"experiment": 1, "timeout": 600}, progress_callback=progress)
                states[:] = [detail(progress=0.5)]
                not_yet = await client.call_tool("wait", {"experiment": 1, "timeout": 0})
                states[:] = [detail("PAUSED", reason="3 trials failed")]
                paused = await client.call_tool("wait", {"experiment": 1})
            return [one.structured_content for one in (over, not_yet, paused)]

        over, not_yet, paused = asyncio.run(waiting())
        self.assertEqual((over["over"], over["state"]), (True, "COMPLETED"))
        self.assertEqual([one[0] for one in seen], [0.25, 0.75])
        self.assertIn("experiment 1 'x': ACTIVE", seen[0][2])
        self.assertEqual((not_yet["over"], not_yet["state"]), (False, "ACTIVE"))
        self.assertEqual((paused["over"], paused["reason"]), (True, "3 trials failed"))

    def test_the_skill_file_is_a_resource_and_names_tools_that_exist(self):
        async def read():
            async with Client(self.server()) as client:
                listed = (await client.list_resources()).resources
                with self.assertRaises(MCPError):
                    await client.read_resource("hpsearch://other")
                return (await client.read_resource(str(listed[0].uri))).contents[0].text, client.instructions

        text, instructions = asyncio.run(read())
        self.assertEqual(text, tools.SKILL.read_text())
        self.assertIn("hpsearch://skill", instructions)
        self.assertRegex(text, r"\A---\nname: hpsearch\ndescription: .+\n---\n")
        self.assertLessEqual(set(re.findall(r"^```call (\w+)", text, re.MULTILINE)), {tool.name for tool in tools.TOOLS})

    def test_the_page_lists_every_tool(self):
        page = (ROOT / "docs" / "agents.md").read_text()
        rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
        self.assertEqual(sorted(rows), sorted(tool.name for tool in tools.TOOLS))


class ListOfPages(unittest.TestCase):
    """llms.txt at the root of the project."""

    def test_its_links_lead_to_files_and_it_has_all_pages_of_users(self):
        links = set(re.findall(r"\]\(([^)#]+)\)", (ROOT / "llms.txt").read_text()))
        self.assertEqual({link for link in links if not (ROOT / link).is_file()}, set())
        # Not for users of a released hpsearch, or reached from a page of the list.
        left_out = {"c-api", "components", "notifications", "packaging", "releasing", "style", "tour-web"}
        pages = {"docs/{}.md".format(page.stem) for page in (ROOT / "docs").glob("*.md") if page.stem not in left_out}
        self.assertEqual(pages - links, set())


class Submissions(McpTest):
    def submitted(self, *configs, **more):
        return self.call(self.server(["submit"], **more), *(("submit", {"config": config}) for config in configs))

    def test_an_experiment_gets_label_and_workspace_and_its_context(self):
        (self.folder / "work" / "inner").mkdir(parents=True)
        (self.folder / "work" / "inner" / "train.py").write_text("pass")
        (self.folder / "work" / "link").symlink_to("/etc")
        stored = {}

        def answer(method, path, headers, body):
            if path.startswith("/api/v1/contexts/"):
                stored.setdefault(path.rpartition("/")[2], body)
                return (200, b"") if method == "PUT" else (404, b"")
            return self.daemon.answer(method, path, headers, body)

        self.daemon.fake.answer = answer
        server = self.server(["submit"], workspace="lab", root=(self.folder / "work").resolve())
        config = dict(CONFIG, labels=["mine"])
        created, above, link, missing, elsewhere, unlabeled = self.call(
            server, ("submit", {"config": config, "context": "inner", "name": "a", "seed": 3}), ("submit", {"config": config, "context": ".."}),
            ("submit", {"config": config, "context": "link"}), ("submit", {"config": config, "context": "nothing"}),
            ("submit", {"config": dict(config, workspace="other", project="p")}), ("submit", {"config": dict(config, labels="agent")}))
        self.assertEqual(created["experiment"], 1)
        bodies = [json.loads(body) for method, path, _, body in self.daemon.fake.asked if method == "POST" and path == "/api/v1/experiments"]
        self.assertEqual(len(bodies), 1)
        self.assertEqual((bodies[0]["config"]["labels"], bodies[0]["config"]["workspace"], bodies[0]["config"]["project"]),
                         (["mine", "agent"], "lab", "default"))
        self.assertEqual((bodies[0]["name"], bodies[0]["seed"], bodies[0]["context_digest"]), ("a", 3, *stored))
        work = str((self.folder / "work").resolve())
        self.assertEqual(above, "submit: the context '..' is not in " + work)
        self.assertEqual(link, "submit: the context 'link' is not in " + work)
        self.assertEqual(missing, "submit: the context 'nothing' is no directory of " + work)
        self.assertEqual(elsewhere, "submit: workspace is 'other'; this server submits to the workspace 'lab'")
        self.assertEqual(unlabeled, "submit: labels is 'agent'; it must be a list of texts")
        self.assertEqual(self.call(self.server(["submit"]), ("submit", {"config": CONFIG, "context": "."})),
                         "submit: there is no context, because hpsearch-mcp was started without --context-root")

    def test_a_text_is_a_file_and_never_a_path(self):
        secret = self.folder / "secret.yaml"
        secret.write_text("entrypoint: secret")
        sent = []

        def answer(method, path, headers, body):
            sent.append(body)
            return 200, {"valid": False, "problems": [{"path": "", "detail": "is a string", "allowed": "a map"}], "config": None}

        self.daemon.fake.answer = lambda method, path, headers, body: (200, VERSION) if path == "/version" else answer(
            method, path, headers, body)
        answer_of = self.call(self.server(), ("preview", {"config": str(secret)}))
        self.assertEqual(answer_of, "the experiment has mistakes\n  is a string; allowed: a map")
        self.assertEqual(sent, [(str(secret) + "\n").encode()])

    def test_a_useless_search_needs_a_confirmation(self):
        config = dict(CONFIG, doubtful=["it maximises a loss"])
        refused, created = self.call(self.server(["submit"]), ("submit", {"config": config}),
                                     ("submit", {"config": config, "confirm": True}))
        self.assertEqual(refused, "the search would be useless: it maximises a loss. Correct it, or submit it with confirm: true")
        self.assertEqual(created["experiment"], 1)

    def test_every_limit_that_is_exceeded_is_named_in_one_message(self):
        self.daemon.archived.add(self.daemon.add(CONFIG, "COMPLETED", trials=7, seconds=3600))
        self.daemon.add(CONFIG, trials=1, seconds=60)
        self.daemon.add(CONFIG, workspace="other")
        self.daemon.add(CONFIG, labels=["mine"])
        large = {"searcher": {"max_trials": 9}, "budget": {"max_slot_hours": 2.5}}
        self.assertEqual(self.submitted(large, limits=Limits(2, 15, 5.0)),
                         "the budget of this server doesn't allow it: 2 of 2 experiments are used; it has 9 trials, and 4 of 15 are "
                         "left; lower searcher.max_trials; its budget.max_slot_hours is 2.5, and 2 of 5 are left. Experiments with the "
                         "label 'agent' in the workspace 'default' count: 1, 2")
        endless = {"searcher": {"max_trials": 1}}
        self.assertEqual(self.submitted(endless, limits=Limits(3, 15, 5.0)),
                         "the budget of this server doesn't allow it: it has no budget.max_slot_hours; set it to at most 2, what is "
                         "left of 5. Experiments with the label 'agent' in the workspace 'default' count: 1, 2")
        self.assertEqual(self.daemon.asked("POST").count("POST /api/v1/experiments"), 0)

    def test_repeated_trainings_count_and_a_preview_says_whether_it_fits(self):
        config = {"searcher": {"max_trials": 8, "repeats": 3}, "budget": {"max_slot_hours": 1}}
        found = self.call(self.server(["submit"]), ("preview", {"config": config}))
        self.assertFalse(found["budget"]["fits"])
        self.assertIn("it has 11 trials, and 10 of 10 are left", found["budget"]["why"])
        self.assertNotIn("budget", self.call(self.server(), ("preview", {"config": config})))

    def test_what_one_call_creates_the_next_one_counts(self):
        first, second, third = self.submitted(CONFIG, CONFIG, CONFIG, limits=Limits(5, 8, 100.0))
        self.assertEqual((first["experiment"], second["experiment"]), (1, 2))
        self.assertIn("it has 4 trials, and 0 of 8 are left", third)

    def test_calls_at_the_same_time_share_one_budget(self):
        async def many(server):
            async with Client(server) as client:
                return await asyncio.gather(*(client.call_tool("submit", {"config": CONFIG}) for _ in range(6)))

        self.daemon.pause = 0.05  # All of them would read the list before the first one creates something.
        found = asyncio.run(many(self.server(["submit"], limits=Limits(2, 100, 100.0))))
        self.assertEqual(sorted(one.is_error for one in found), [False] * 2 + [True] * 4)
        self.assertEqual(len(self.daemon.experiments), 2)

    def test_the_same_key_again_is_answered_by_the_daemon_whatever_is_left(self):
        call = ("submit", {"config": CONFIG, "key": "once"})
        server = self.server(["submit"], limits=Limits(1, 100, 100.0))
        self.daemon.more["POST /api/v1/experiments"] = (409, {"detail": "the quota is used up"})
        self.assertEqual(self.call(server, call), "the quota is used up")
        self.daemon.add(CONFIG)
        self.assertIn("1 of 1 experiments are used", self.call(server, call))  # A refused one has no key yet.
        self.daemon.experiments.clear()
        del self.daemon.more["POST /api/v1/experiments"]
        self.assertEqual(self.call(server, call)["experiment"], 1)
        self.daemon.more["POST /api/v1/experiments"] = (201, {"experiment": 1})
        self.assertEqual(self.call(server, call)["experiment"], 1)
        keys = [headers["Idempotency-Key"] for method, path, headers, _ in self.daemon.fake.asked
                if (method, path) == ("POST", "/api/v1/experiments")]
        self.assertEqual(set(keys), {"once"})

    def test_the_budget_lists_what_counts(self):
        self.daemon.add(CONFIG, "FAILED", trials=3, seconds=1800)
        self.daemon.add({"searcher": {"max_trials": 2}}, trials=1)
        self.assertEqual(self.call(self.server(["submit"]), ("budget", {})), {
            "workspace": "default", "label": "agent", "experiments": {"limit": 2, "used": 2, "left": 0},
            "trials": {"limit": 10, "used": 5, "left": 5}, "slot_hours": {"limit": 5.0, "used": None, "left": 0.0},
            "counted": [{"experiment": 1, "trials": 3, "slot_hours": 0.5}, {"experiment": 2, "trials": 2, "slot_hours": None}]})


class ChangesOfExperiments(McpTest):
    def setUp(self):
        super().setUp()
        self.own = self.daemon.add(CONFIG, trials=2)

    def test_only_experiments_of_the_server_are_changed(self):
        mine = self.daemon.add(CONFIG, labels=[])
        elsewhere = self.daemon.add(CONFIG, workspace="other")
        for tool in ("pause", "resume", "cancel"):
            paused, refused, away = self.call(self.server(["change"]), *((tool, {"experiment": one}) for one in (self.own, mine, elsewhere)))
            self.assertEqual(paused["id"], self.own)
            self.assertEqual(refused, "experiment 2 is in the workspace 'default' and has the labels []; this server changes only "
                                      "experiments with the label 'agent' in the workspace 'default'")
            self.assertIn("is in the workspace 'other'", away)
            self.assertEqual(self.daemon.asked("POST")[-1], "POST /api/v1/experiments/{}/{}".format(self.own, tool))

    def test_a_raised_limit_counts_and_a_lowered_one_is_always_allowed(self):
        server = self.server(["change"], limits=Limits(1, 6, 3.0))
        more, longer, both, lower, other, wrong, nothing = self.call(server, *(
            ("set", dict(change, experiment=self.own)) for change in (
                {"searcher": {"max_trials": 7}}, {"budget": {"max_slot_hours": 3.5}},
                {"searcher": {"max_trials": 6}, "budget": {"max_slot_hours": 3}},
                {"searcher": {"max_trials": 3}}, {"resources": {"priority": 10}}, {"budget": {"max_slot_hours": None}}, {})))
        self.assertIn("it has 7 trials, and 6 of 6 are left", more)
        self.assertIn("its budget.max_slot_hours is 3.5, and 3 of 3 are left", longer)
        self.assertEqual([one["id"] for one in (both, lower, other)], [self.own] * 3)
        self.assertEqual(wrong, "set: budget.max_slot_hours is null; it must be a number")
        self.assertEqual(nothing, "set: no limit is given; give searcher, resources or budget")
        sent = [json.loads(body) for method, _, _, body in self.daemon.fake.asked if method == "PATCH"]
        self.assertEqual(sent, [{"searcher": {"max_trials": 6}, "budget": {"max_slot_hours": 3}}, {"searcher": {"max_trials": 3}},
                                {"resources": {"priority": 10}}])
        tight = self.server(["change"], limits=Limits(1, 1, 0.5))
        self.assertEqual(self.call(tight, ("set", {"experiment": self.own, "searcher": {"max_trials": 3}}))["id"], self.own)

    def test_an_ended_experiment_that_goes_on_takes_its_whole_limits_again(self):
        ended = self.daemon.add(CONFIG, "COMPLETED", trials=4, seconds=60)
        server = self.server(["change"], limits=Limits(2, 10, 3.0))
        self.assertIn("its budget.max_slot_hours is 2, and 1 of 3 are left",
                      self.call(server, ("set", {"experiment": ended, "budget": {"target": 0.1}})))


class Program(McpTest):
    """The program itself, as another process."""

    def command(self, *more):
        return ["-B", "-m", "hpsearch.mcp", "--server", self.daemon.fake.address, *more]

    def environment(self):
        return {"PYTHONPATH": str(PACKAGE), "HOME": str(self.folder), "PATH": os.environ["PATH"]}

    def test_it_speaks_over_standard_input_and_output_in_both_eras(self):
        number = self.daemon.add(CONFIG)

        async def session(mode):
            server = StdioServerParameters(command=sys.executable, args=self.command(), env=self.environment())
            async with Client(server, mode=mode) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                shown = await client.call_tool("show", {"experiment": number})
                return names, shown.structured_content["id"], client.server_info.version

        for mode in ("auto", "legacy"):
            self.assertEqual(asyncio.run(session(mode)), (READING, number, hpsearch.__version__))

    def test_over_http_it_wants_its_token_and_no_page_of_a_browser(self):
        number, file = self.daemon.add(CONFIG), self.folder / "agents.token"
        process = subprocess.Popen([sys.executable, *self.command("--http", "127.0.0.1:0", "--http-token-file", str(file))],
                                   env=self.environment(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        url = re.search(r"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())[0]
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        token = {"Authorization": "Bearer " + file.read_text().strip()}

        async def session(mode):
            async with httpx2.AsyncClient(headers=token, timeout=60) as http:
                async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                    return (await client.call_tool("show", {"experiment": number})).structured_content["id"]

        async def statuses():
            async with httpx2.AsyncClient(timeout=60) as http:
                ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
                kinds = {"Accept": "application/json, text/event-stream"}
                return [(await http.post(url, json=ask, headers=dict(kinds, **headers))).status_code for headers in (
                    {}, {"Authorization": "Bearer wrong"}, dict(token, Origin="http://evil.example"), dict(token, Host="evil.example"))]

        self.assertEqual([asyncio.run(session(mode)) for mode in ("auto", "legacy")], [number, number])
        self.assertEqual(asyncio.run(statuses()), [401, 401, 403, 421])
        process.terminate()
        self.assertEqual(process.wait(60), 0)
        # The token stays, so that clients find the server again.
        self.assertEqual(token["Authorization"], "Bearer " + file.read_text().strip())

    def refused(self, *arguments, code=2):
        """What it writes to standard error."""
        out = io.StringIO()
        with contextlib.redirect_stderr(out):
            try:
                found = __main__.main(list(arguments))
            except SystemExit as end:
                found = end.code
        self.assertEqual(found, code, out.getvalue())
        return out.getvalue().strip().rpartition("hpsearch-mcp: ")[2]

    def test_wrong_arguments_are_named(self):
        for arguments, message in (
                (["--allow", "submit", "--max-trials", "5"], "error: --allow submit needs --max-experiments, --max-slot-hours"),
                (["--max-trials", "0"], "error: argument --max-trials: it is '0'; it must be a whole number of at least 1"),
                (["--max-slot-hours", "nan"], "error: argument --max-slot-hours: it is 'nan'; it must be a number above 0"),
                (["--label", "a,b"], "error: --label is 'a,b'; it must be a text without commas"),
                (["--http", "127.0.0.1:0"], "error: --http and --http-token-file need each other"),
                (["--http", "0.0.0.0:80"], "error: argument --http: the host is '0.0.0.0'; it must be 127.0.0.1, ::1 or localhost, because "
                 "tokens would be readable on a network. Agents of other machines use a tunnel (ssh -L)"),
                (["--context-root", "/nothing/here"], "error: argument --context-root: '/nothing/here' is no directory"),
                (["--server", "x", "--state-dir", "y"], "error: --server and --state-dir name two daemons; give one of them"),
                (["--server", "nowhere"], "the server is 'nowhere'; it must be unix:///PATH, https://HOST:PORT, https://HOST:PORT#SHA256 "
                 "or HOST:PORT")):
            self.assertEqual(self.refused(*arguments), message)
        loose = self.folder / "loose"
        loose.write_text("abc\n")
        loose.chmod(0o644)
        self.assertIn("may be read by other users", self.refused("--server", self.daemon.fake.address, "--http", "[::1]:0",
                                                                 "--http-token-file", str(loose)))

    def test_a_taken_port_is_named(self):
        import socket
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            place = "127.0.0.1:{}".format(taken.getsockname()[1])
            self.assertEqual(self.refused("--server", self.daemon.fake.address, "--http", place, "--http-token-file",
                                          str(self.folder / "token"), code=1),
                             "--http is {}: Address already in use; give another port, or 0 for any free one".format(place))

    def test_without_the_sdk_it_says_how_to_get_it(self):
        with unittest.mock.patch.dict(sys.modules, {"mcp.server.lowlevel": None, "hpsearch.mcp.server": None}):
            self.assertRegex(self.refused(), r"^the SDK of the Model Context Protocol is missing \(.*\); it needs Python 3\.10 or newer: "
                                             r"pip install 'mcp>=2\.3,<3'$")

    def test_the_skill_file_is_printed(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(__main__.main(["--print-skill"]), 0)
        self.assertEqual(out.getvalue(), tools.SKILL.read_text())

    def test_the_page_has_every_option(self):
        page = (ROOT / "docs" / "agents.md").read_text()
        known = {option for action in options.parser()._actions for option in action.option_strings if option.startswith("--")}
        self.assertEqual(known - {"--help", "--version"}, set(re.findall(r"^\| `(--[a-z-]+)", page, re.MULTILINE)))


if __name__ == "__main__":
    unittest.main()
