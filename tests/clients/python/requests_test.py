"""The Python client against a fake daemon: what it sends, what it repeats, what it makes of refusals and of streams."""

import asyncio
import io
import contextlib
import json
import os
import pathlib
import pickle
import shutil
import sys
import tarfile
import tempfile
import threading
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import hpsearch
import hpsearch.aio
from fake_daemon import VERSION, FakeDaemon, detail, message
from hpsearch._client.client import check_versions
from hpsearch._client.stream import Parser

DESCRIPTION = pathlib.Path(__file__).resolve().parents[3] / "docs" / "openapi.json"
CONFIG = {"entrypoint": ["true"], "searcher": {"name": "single", "metric": "loss", "max_length": 1}}


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-client-"))
        self.addCleanup(shutil.rmtree, str(self.folder), ignore_errors=True)
        hidden = unittest.mock.patch.dict(os.environ, {"HOME": str(self.folder), "XDG_CONFIG_HOME": "",
                                                       "HPSEARCH_STATE_HOME": str(self.folder / "state")})
        hidden.start()
        self.addCleanup(hidden.stop)
        for name in ("HPSEARCH_SERVER", "HPSEARCH_TOKEN_FILE"):
            os.environ.pop(name, None)

    def serve(self, answers):
        """`answers` by "METHOD path"; a function, an answer, or a list of answers in turn."""
        answers = dict({"GET /version": (200, VERSION), "GET /api/v1/experiments/1": (200, detail())}, **answers)

        def answer(method, path, headers, body):
            found = answers.get("{} {}".format(method, path.partition("?")[0]), (404, {"detail": "nothing here"}))
            if callable(found):
                return found(path, headers, body)
            if isinstance(found, list):
                return found.pop(0) if len(found) > 1 else found[0]
            return found

        daemon = FakeDaemon(self.folder, answer)
        self.addCleanup(lambda: daemon.stop())
        return daemon, hpsearch.Client(daemon.address, timeout=5, retry_for=5)


class Requests(DaemonTest):
    def test_a_submission_has_a_key_and_the_context(self):
        daemon, client = self.serve({"POST /api/v1/experiments": (201, {"experiment": 1}),
                                     })
        context = self.folder / "context"
        context.mkdir()
        (context / "train.py").write_text("pass")
        stored = {}

        def answer(method, path, headers, body):
            if path.startswith("/api/v1/contexts/"):
                if method == "PUT":
                    stored[path.rpartition("/")[2]] = body
                    return 201, {}
                return (200 if path.rpartition("/")[2] in stored else 404), b""
            return earlier(method, path, headers, body)

        earlier, daemon.answer = daemon.answer, answer
        for _ in range(2):
            self.assertEqual(client.submit(CONFIG, context=context, name="lr", seed=7).id, 1)
        posts = [(headers, json.loads(body)) for method, _, headers, body in daemon.asked if method == "POST"]
        self.assertEqual(len(stored), 1)
        self.assertEqual(sum(method == "PUT" for method, *_ in daemon.asked), 1, "a known context was sent again")
        self.assertEqual(posts[0][1], {"config": dict(CONFIG, name="lr"), "name": "lr", "seed": 7,
                                       "context_directory": str(context.resolve()), "context_digest": next(iter(stored))})
        keys = {headers["Idempotency-Key"] for headers, _ in posts}
        self.assertEqual(len(keys), 2)

    def test_a_change_without_an_answer_is_sent_again_under_its_key(self):
        daemon, client = self.serve({"POST /api/v1/experiments/1/pause": [None, (503, {"detail": "busy"}), (200, {})]})
        client.experiment(1).pause()
        keys = [headers["Idempotency-Key"] for method, _, headers, _ in daemon.asked if method == "POST"]
        self.assertGreaterEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1)

    def test_a_daemon_that_restarts_is_waited_for(self):
        daemon, client = self.serve({})
        experiment = client.experiment(1)
        daemon.stop()
        again = threading.Timer(0.3, daemon.start)
        again.start()
        self.assertEqual(experiment.state, "ACTIVE")
        again.join()

    def test_a_daemon_that_was_never_there_is_not_waited_for(self):
        with self.assertRaises(hpsearch.Unreachable) as caught:
            hpsearch.Client("unix://{}/none.sock".format(self.folder)).status()
        self.assertIn("none.sock", str(caught.exception))
        self.assertIsInstance(caught.exception, ConnectionError)

    def test_a_socket_whose_path_is_too_long_for_an_address_is_found(self):
        daemon, _ = self.serve({"GET /api/v1/status": (200, {"version": "0.1.0"})})
        far = self.folder / ("long" * 25) / "state"
        far.mkdir(parents=True)
        os.rename(daemon.path, str(far / "api.sock"))
        client = hpsearch.Client("unix://{}/api.sock".format(far))
        self.assertEqual(client.experiment(1).id, 1)

        async def opens():
            _, writer = await hpsearch.aio._open(client._transport)
            writer.close()

        asyncio.run(opens())
        opened = [os.path.realpath(str(entry)) for entry in pathlib.Path("/proc/self/fd").glob("*")]
        self.assertNotIn(os.path.realpath(str(far)), opened)

    def test_a_refusal_is_an_exception_with_all_mistakes(self):
        problem = {"type": "https://hpsearch.invalid/problems/bad_request", "detail": "the configuration is wrong",
                   "status": 400, "instance": "id-1",
                   "errors": [{"path": "searcher.max_trials", "line": 12, "detail": "is 0", "allowed": "an integer from 1"},
                              {"path": "foo", "detail": "is not a known field"}]}
        _, client = self.serve({"POST /api/v1/experiments": (400, problem)})
        with self.assertRaises(hpsearch.BadRequest) as caught:
            client.submit(CONFIG)
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((error.status, error.instance, [item.path for item in error.problems]),
                         (400, "id-1", ["searcher.max_trials", "foo"]))
        self.assertEqual(str(error).splitlines()[1:], [
            "  line 12: searcher.max_trials is 0; allowed: an integer from 1", "  foo is not a known field"])
        self.assertIsInstance(error, ValueError)

    def test_kinds_of_refusals(self):
        for status, kind in ((401, hpsearch.AccessDenied), (403, hpsearch.AccessDenied), (404, hpsearch.NotFound),
                             (409, hpsearch.WrongState), (422, hpsearch.Conflict), (500, hpsearch.Problem)):
            with self.subTest(status):
                daemon, client = self.serve({"GET /api/v1/status": (status, {"detail": "no"})})
                with self.assertRaises(kind):
                    client.status()
                daemon.stop()
                daemon.start()

    def test_a_child_process_has_a_connection_of_its_own(self):
        _, client = self.serve({"GET /api/v1/status": (200, {"version": "0.1.0"})})
        client.status()
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if client.status()["version"] == "0.1.0" else 1)
            finally:
                os._exit(2)
        self.assertEqual(client.status()["version"], "0.1.0")
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_checkpoint_of_another_machine_comes_from_the_daemon(self):
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as opened:
            for name in ("net", "optimizer"):
                member = tarfile.TarInfo("checkpoint-1-4-1-9/" + name)
                member.size = 3000
                opened.addfile(member, io.BytesIO(b"w" * 3000))
        trial = {"trial": 4, "state": "COMPLETED", "best_checkpoint": "/nowhere/1-9", "best_checkpoint_step": 9, "hparams": {}}
        base = "GET /api/v1/experiments/1/trials/4/checkpoints"
        daemon, client = self.serve({
            "GET /api/v1/experiments/1/best": (200, trial),
            base: (200, {"checkpoints": [{"id": "1/4/1-9", "path": "/nowhere/1-9", "step": 9}], "next": None}),
            base + "/1-9/archive.tar": (200, archive.getvalue(), {"Content-Type": "application/x-tar"})})
        checkpoint = client.experiment(1).best.checkpoint
        self.assertEqual((checkpoint.step, checkpoint.id), (9, "1/4/1-9"))
        copy = checkpoint.download(self.folder / "best")
        self.assertEqual({path.name: path.read_bytes() for path in copy.iterdir()},
                         {"net": b"w" * 3000, "optimizer": b"w" * 3000})
        # The connection breaks between two files: a tar archive does not tell.
        whole = archive.getvalue()
        daemon.answer = lambda *_: (200, whole[:512 + 3072], {"Promised": str(len(whole))})
        with self.assertRaises(hpsearch.Unreachable):
            checkpoint.download(self.folder / "cut")

    def test_all_files_of_a_trial_are_saved_as_one_archive(self):
        trial = {"trial": 4, "state": "COMPLETED", "attempts": 2, "hparams": {}}
        daemon, client = self.serve({
            "GET /api/v1/experiments/1/trials/4": (200, trial),
            "GET /api/v1/experiments/1/trials/4/files.tar": (200, b"an archive" * 1000, {"Content-Type": "application/x-tar"})})
        trial = client.experiment(1).trials[4]
        saved = trial.save_files(self.folder / "files.tar")
        self.assertEqual(saved.read_bytes(), b"an archive" * 1000)
        with self.assertRaises(FileExistsError):
            trial.save_files(saved)
        daemon.answer = lambda *_: (200, b"cut", {"Promised": "1000"})
        with self.assertRaises(hpsearch.Unreachable):
            trial.save_files(self.folder / "cut.tar")
        self.assertFalse((self.folder / "cut.tar").exists(), "a part of an archive is not left behind")
        # A search of this machine has its files here: there is no request.
        state = self.folder / "state"
        (state / "trials" / "4" / "files" / "runs").mkdir(parents=True)
        (state / "run.json").write_text("{}")
        (state / "trials" / "4" / "files" / "runs" / "notes.txt").write_text("as it was")
        os.symlink("/etc/passwd", str(state / "trials" / "4" / "files" / "away"))
        trial._transport.state = state
        here = trial.save_files(self.folder / "here.tar")
        with tarfile.open(str(here)) as archive:
            self.assertEqual(archive.getnames(), ["attempt-2/runs/notes.txt"])
            self.assertEqual(archive.extractfile("attempt-2/runs/notes.txt").read(), b"as it was")

    def test_each_change_has_its_route(self):
        trial = {"trial": 4, "state": "FAILED", "hparams": {}}
        daemon, client = self.serve({"GET /api/v1/experiments/1/trials/4": (200, trial)})
        earlier = daemon.answer
        daemon.answer = lambda method, *more: earlier(method, *more) if method == "GET" else (200, {})
        experiment = client.experiment(1)
        trial = experiment.trials[4]
        changes = [(experiment, "pause"), (experiment, "resume"), (experiment, "cancel"), (experiment, "kill"),
                   (experiment, "archive"), (experiment, "unarchive"), (experiment, "delete"), (trial, "stop"),
                   (trial, "cancel"), (trial, "retry")]
        for thing, verb in changes:
            getattr(thing, verb)()
            method, path, headers, _ = daemon.asked[-1]
            base = "/api/v1/experiments/1" + ("/trials/4" if thing is trial else "")
            self.assertEqual((method, path), ("DELETE", base) if verb == "delete" else ("POST", base + "/" + verb))
            described = json.loads(DESCRIPTION.read_text())["paths"]
            route = path.replace("experiments/1", "experiments/{experiment}").replace("trials/4", "trials/{trial}")
            self.assertIn(method.lower(), described[route], route)
            self.assertTrue(headers["Idempotency-Key"])

    def test_limits_go_to_their_sections(self):
        daemon, client = self.serve({"PATCH /api/v1/experiments/1": (200, detail())})
        client.experiment(1).set(max_trials=400, max_time=60, priority=3)
        self.assertEqual(json.loads(daemon.asked[-1][3]), {"searcher": {"max_trials": 400}, "budget": {"max_time": 60},
                                                           "resources": {"priority": 3}})
        with self.assertRaisesRegex(TypeError, "max_trails.*max_trials"):
            client.experiment(1).set(max_trails=3)

    def test_yaml_is_read_by_the_daemon_and_keeps_its_secrets(self):
        try:
            import yaml  # noqa: F401
        except ImportError:
            self.skipTest("no PyYAML here")
        masked = dict(CONFIG, environment={"environment_variables": {"KEY": "********", "N": "********"}})
        daemon, client = self.serve({
            "POST /api/v1/experiments/validate": (200, {"valid": True, "config": masked, "problems": [], "notes": []}),
            "POST /api/v1/experiments": (201, {"experiment": 1})})
        client.submit("environment:\n  environment_variables: {KEY: s3cret, N: 5}\n")
        config = json.loads(next(body for method, path, _, body in daemon.asked if path == "/api/v1/experiments"))["config"]
        self.assertEqual(config["environment"]["environment_variables"], {"KEY": "s3cret", "N": "5"})


class Daemons(DaemonTest):
    """Which daemon is the one."""

    def write(self, path, text, mode=0o600):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def test_they_are_looked_for_in_order(self):
        def found(**arguments):
            return str(hpsearch.Client(**arguments).address)

        self.assertEqual(found(), "unix:///run/hpsearch/api.sock")
        self.write(self.folder / "state/hpsearchd/daemon.json",
                   json.dumps({"socket": "unix:///own.sock", "pid": os.getpid()}))
        self.assertEqual(found(), "unix:///own.sock")
        self.write(self.folder / ".config/hpsearch/contexts.json", json.dumps(
            {"current": "lab", "contexts": [{"name": "lab", "server": "https://lab:8077#" + "a" * 64, "token": "t"}]}))
        self.assertEqual(found(), "https://lab:8077#" + "a" * 64)
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_SERVER": "unix:///variable.sock"}):
            self.assertEqual(found(), "unix:///variable.sock")
            self.assertEqual(found(server="head:8077"), "http://head:8077")
        self.assertEqual(found(state_dir=self.folder / "state/hpsearchd"), "unix:///own.sock")

    def test_a_daemon_that_ended_is_not_the_one(self):
        self.write(self.folder / "state/hpsearchd/daemon.json", json.dumps({"socket": "unix:///own.sock", "pid": 2 ** 22 + 1}))
        self.assertEqual(str(hpsearch.Client().address), "unix:///run/hpsearch/api.sock")
        with self.assertRaises(hpsearch.NotFound):
            hpsearch.Client(state_dir=self.folder / "state")

    def test_where_there_are_no_unix_sockets(self):
        with unittest.mock.patch("hpsearch._client.transport.socket") as without:
            del without.AF_UNIX
            with self.assertRaisesRegex(hpsearch.Unreachable, "no Unix sockets; start hpsearchd there, or name another"):
                hpsearch.Client().status()

    def test_addresses_that_are_none(self):
        for address in ("unix://relative", "ftp://host:1", "host", "host:0", "host:99999", "http://host:1#" + "a" * 64,
                        "https://host:1#abc", ""):
            with self.subTest(address), self.assertRaises(hpsearch.BadRequest):
                hpsearch.Client(address or " ")

    def test_a_token_is_sent_and_its_file_is_private(self):
        daemon, _ = self.serve({"GET /api/v1/status": (200, {})})
        token = self.write(self.folder / "token", "hps_12345678_x\n")
        hpsearch.Client(daemon.address, token_file=token).status()
        self.assertEqual(daemon.asked[-1][2]["Authorization"], "Bearer hps_12345678_x")
        token.chmod(0o640)
        with self.assertRaisesRegex(hpsearch.BadRequest, "may be read by other users; chmod 600"):
            hpsearch.Client(daemon.address, token_file=token)
        with self.assertRaisesRegex(hpsearch.BadRequest, "does not hold one token"):
            hpsearch.Client(daemon.address, token_file=self.write(self.folder / "two", "a b"))
        with self.assertRaisesRegex(hpsearch.BadRequest, "cannot be read"):
            hpsearch.Client(daemon.address, token_file=self.folder / "none")

    def test_versions_that_do_not_fit(self):
        check_versions("1.2.0", dict(VERSION, version="1.3.1"))
        with self.assertLogs("hpsearch", "WARNING"):
            check_versions("0.2.0", dict(VERSION, version="0.1.0"))
        for own, given in (("1.0.0", dict(VERSION, version="0.1.0")), ("0.1.0", dict(VERSION, oldest_client="0.2.0")),
                          ("0.1.0", dict(VERSION, api=["v2"]))):
            with self.subTest(given), self.assertRaises(hpsearch.IncompatibleDaemon):
                check_versions(own, given)


    def test_servers_that_are_no_daemon(self):
        for answer in ((200, b"<html>", {"Content-Type": "text/html"}), (404, {"detail": "no"}), (200, {"hello": 1}), (200, [])):
            with self.subTest(answer):
                _, client = self.serve({"GET /version": answer})
                with self.assertRaisesRegex(hpsearch.Unreachable, "^the server.* is not hpsearchd"):
                    client.experiments()

    def test_what_is_no_experiment_or_server(self):
        _, client = self.serve({})
        with self.assertRaisesRegex(TypeError, "the experiment is a int; it must be a path"):
            client.submit(3)
        with self.assertRaisesRegex(TypeError, "the server is a int; it must be a text"):
            hpsearch.Client(3)


class Streams(DaemonTest):
    def stream(self, *connections):
        """An experiment whose stream sends these bytes, one connection after the other."""
        pieces = list(connections)

        def answer(path, headers, body):
            return (200, pieces.pop(0), {"Content-Type": "text/event-stream"}) if pieces else None

        trial = {"trial": 4, "state": "FAILED", "last_failure": "exit status 1\nKeyError: 'lr'\n"}
        return self.serve({"GET /api/v1/stream": answer,
                           "GET /api/v1/experiments/1/trials": (200, {"trials": [trial], "next": None, "total": 1})})

    def change(self, lsn, state):
        return message(lsn, "experiment:1", {"topic": "experiment:1", "lsn": lsn, "experiment": detail(state)})

    def test_messages_are_found_wherever_the_bytes_are_cut(self):
        text = b"retry: 20\n\n: quiet\n\nid: 7\nevent: log\ndata: {\"a\":\ndata:  1}\r\n\r\nid: 8\n\nevent: bye\ndata:\n\n"
        for cut in range(len(text)):
            parser = Parser()
            found = parser.feed(text[:cut]) + parser.feed(text[cut:])
            self.assertEqual([(one.id, one.event, one.data) for one in found], [("7", "log", "{\"a\":\n 1}"), ("8", "bye", "")])
            self.assertEqual((parser.pause, parser.last_id), (0.02, "8"))

    def test_it_resumes_behind_the_last_message_and_ends_with_the_experiment(self):
        daemon, client = self.stream(b"retry: 1\n\n" + self.change(5, "ACTIVE") + b"id: 6\nevent: experiment:1\ndata: {\"ex",
                                     self.change(9, "COMPLETED") + self.change(10, "COMPLETED"))
        self.assertEqual([(change.lsn, change.state) for change in client.experiment(1).watch()],
                         [(5, "ACTIVE"), (9, "COMPLETED")])
        asked = [headers.get("Last-Event-ID") for _, path, headers, _ in daemon.asked if path.startswith("/api/v1/stream")]
        self.assertEqual(asked, [None, "6"])

    def test_waiting_ends_with_what_became_of_it(self):
        failed = dict(state="FAILED", reason="all trials failed", notes=[{"text": "loss is never reported"}])
        for given, kind in ((dict(state="COMPLETED"), None), (failed, hpsearch.ExperimentFailed),
                           (dict(state="CANCELED"), hpsearch.ExperimentCanceled),
                           (dict(state="PAUSED", reason="its first 3 trials failed"), hpsearch.ExperimentFailed)):
            with self.subTest(given):
                data = {"topic": "experiment:1", "lsn": 1, "experiment": detail(**given)}
                daemon, client = self.stream(message(1, "experiment:1", data))
                if kind is None:
                    client.experiment(1).wait()
                else:
                    with self.assertRaises(kind) as caught:
                        client.experiment(1).wait()
                    self.assertIn(given.get("reason", ""), str(caught.exception))
                    self.assertEqual("trial 4: exit status 1\nKeyError" in str(caught.exception), given["state"] != "CANCELED")
                    for note in given.get("notes", []):
                        self.assertIn(note["text"], str(caught.exception))
                daemon.stop()
                daemon.start()

    def test_a_wait_that_takes_too_long(self):
        _, client = self.serve({})
        with self.assertRaises(TimeoutError):
            client.experiment(1).wait(timeout=0.01)

    def test_an_interrupted_wait_says_how_to_return(self):
        _, client = self.serve({})
        experiment = client.experiment(1)
        said = io.StringIO()
        with unittest.mock.patch.object(type(experiment), "watch", side_effect=KeyboardInterrupt), \
                contextlib.redirect_stderr(said), self.assertRaises(KeyboardInterrupt):
            experiment.wait()
        self.assertIn("experiment 1 goes on. To wait again: hpsearch.Client('unix://", said.getvalue())


if __name__ == "__main__":
    unittest.main()
