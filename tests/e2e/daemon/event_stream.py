"""A subscriber of text/event-streams, as a browser is one: it keeps the last id and resumes behind it."""

import http.client


class Subscriber:
    """Reads one stream after the other; `last_id` goes from one to the next."""

    def __init__(self, cluster, path, last_id=None, language=None):
        self.cluster = cluster
        self.path = path
        self.last_id = last_id
        self.language = language
        self.connection = None
        self.response = None

    def connect(self, timeout=30):
        """The status of the answer; OSError or HTTPException while the daemon is away."""
        self.cut()
        self.connection = self.cluster.connection(timeout)
        headers = {"Accept": "text/event-stream"}
        if self.last_id is not None:
            headers["Last-Event-ID"] = self.last_id
        if self.language is not None:
            headers["Accept-Language"] = self.language
        self.connection.request("GET", self.path, headers=headers)
        self.response = self.connection.getresponse()
        return self.response.status

    def messages(self):
        """(id, event, data) until the stream ends or breaks; each counts only when it is whole."""
        message = {}
        while True:
            try:
                line = self.response.readline()
            except (OSError, http.client.HTTPException):
                return
            if not line.endswith(b"\n"):
                return
            text = line.rstrip(b"\r\n").decode()
            if text:
                name, _, value = text.partition(":")
                message[name] = value.removeprefix(" ")
                continue
            if "id" in message:
                self.last_id = message["id"]
            if "id" in message or "data" in message:
                yield message.get("id"), message.get("event"), message.get("data")
            message = {}

    def cut(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = self.response = None
