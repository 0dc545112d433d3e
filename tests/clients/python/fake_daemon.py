"""A daemon's side of HTTP for clients of this process: over a Unix socket, with answers that a test gives."""

import http.server
import json
import pathlib
import socketserver
import threading

import hpsearch


class FakeDaemon:
    """`answer(method, path, headers, body)` returns (status, body) or (status, body, headers); a body that is no bytes is
    sent as JSON. `None` instead closes the connection without an answer. Keeps what was asked."""

    def __init__(self, folder, answer):
        self.asked = []
        self.answer = answer
        self.path = str(pathlib.Path(folder, "api.sock"))
        self.start()

    @property
    def address(self):
        return "unix://" + self.path

    def start(self):
        daemon = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def address_string(self):
                return "client"

            def log_message(self, *_):
                pass

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                daemon.asked.append((self.command, self.path, dict(self.headers.items()), body))
                answer = daemon.answer(self.command, self.path, self.headers, body)
                if answer is None:
                    self.close_connection = True
                    return
                status, content, *more = answer
                if not isinstance(content, bytes):
                    content = json.dumps(content).encode()
                self.send_response(status)
                headers = dict(more[0] if more else {})
                promised = headers.pop("Promised", None)  # More bytes than come, before the connection breaks.
                self.close_connection = self.close_connection or promised is not None
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", promised or str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True
            allow_reuse_address = True

        pathlib.Path(self.path).unlink(missing_ok=True)
        self.server = Server(self.path, Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


VERSION = {"api": ["v1"], "oldest_client": "0.1.0", "version": hpsearch.__version__}


def detail(state="ACTIVE", **more):
    """An experiment as the daemon describes one."""
    return dict({"id": 1, "name": "x", "state": state, "reason": "", "waits_for": "", "notes": [], "metric": "loss",
                 "smaller_is_better": True, "unit": "epochs", "progress": 0.5, "trials": {"RUNNING": 1}, "best": None},
                **more)


def message(lsn, event, data):
    """A message of a stream."""
    return "id: {}\nevent: {}\ndata: {}\n\n".format(lsn, event, json.dumps(data)).encode()
