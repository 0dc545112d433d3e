"""A worker's side of the reporting socket, for programs that run in this process or below it."""

import json
import os
import pathlib
import shutil
import socket
import tempfile
import threading
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"


class FakeWorker:
    """Answers each line by `answer(message)`: a dict, or None for no answer. Keeps what was said."""

    def __init__(self, folder, answer=None):
        self.heard = []
        self.answer = answer or (lambda message: {"directive": "continue", "length": 3})
        self.address = str(pathlib.Path(folder, "socket"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.address)
        self.listener.listen()
        self.connections = []
        self.server = threading.Thread(target=self.serve, daemon=True)
        self.server.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.converse, args=(connection,), daemon=True).start()

    def converse(self, connection):
        with connection, connection.makefile("rwb", buffering=0) as stream:
            for line in stream:
                message = json.loads(line)
                self.heard.append(message)
                answer = self.answer(message)
                if answer is not None:
                    try:
                        stream.write(json.dumps(answer).encode() + b"\n")
                    except OSError:
                        return  # The program has ended.

    def close(self):
        # Its thread first: one that comes to accept() late would take the next worker's connections, whose listener gets
        # the same descriptor.
        if self.server.is_alive():
            self.listener.shutdown(socket.SHUT_RDWR)
            self.server.join()
            self.listener.close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def said(self, kind):
        return [message for message in self.heard if message["type"] == kind]


class TrialTest(unittest.TestCase):
    """A test that plays a trial: environment and a fake worker, or none of both."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-client-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.before = dict(os.environ)
        self.addCleanup(self.restore_environment)
        for name in list(os.environ):
            if name.startswith("HPSEARCH_"):
                del os.environ[name]
        self.was_in = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, self.was_in)
        self.forget_trial()
        self.addCleanup(self.forget_trial)

    def lay_out_checkpoint(self, target):
        """A file and a folder in it, and links that lead in and out."""
        (target / "deep").mkdir()
        (target / "deep" / "weights").write_bytes(b"2")
        (target / "model.pt").write_bytes(b"1")
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "kept").write_bytes(b"3")
        (self.folder / "way").symlink_to(target)
        (self.folder / "one.pt").symlink_to(target / "model.pt")
        (target / "out").symlink_to(self.folder / "mine")

    def link_to_own_tree(self):
        """Puts a link in the place of the checkpoint directory; the tree it leads to."""
        own = self.folder / "own"
        own.mkdir()
        (own / "weights").write_text("mine")
        (self.folder / "checkpoint").rmdir()
        (self.folder / "checkpoint").symlink_to(own)
        return own

    def restore_environment(self):
        os.environ.clear()
        os.environ.update(self.before)

    @staticmethod
    def forget_trial():
        import hpsearch
        if hpsearch._in_trial._trial is not None and hpsearch._in_trial._trial._connection is not None:
            hpsearch._in_trial._trial._connection.close()
        hpsearch._in_trial._trial = None

    def in_trial(self, answer=None, **variables):
        """The fake worker; `variables` without HPSEARCH_ before them."""
        worker = FakeWorker(self.folder, answer)
        self.addCleanup(worker.close)
        checkpoint = self.folder / "checkpoint"
        checkpoint.mkdir(exist_ok=True)
        given = {"SOCKET": worker.address, "CHECKPOINT_DIR": str(checkpoint), "LENGTH": "3", "UNIT": "epochs",
                 "METRIC": "val_acc", "TRIAL_SEED": "7", "EXPERIMENT_ID": "1", "TRIAL_ID": "12",
                 "TRIAL_NUMBER": "4", "ATTEMPT": "2", "SLOT_IDS": "0,3", "PARAMS": '{"lr": 0.5}', **variables}
        os.environ.update({"HPSEARCH_" + name: str(value) for name, value in given.items()})
        self.forget_trial()
        return worker
