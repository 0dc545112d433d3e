"""Plays the API of Kubernetes for one namespace, as far as queues of hpsearch use it: Jobs become pods, and pods are workers of
this machine. Requests can fail as those to a real API do."""

import base64
import http.server
import json
import pathlib
import re
import signal
import ssl
import subprocess
import threading
import time
import urllib.parse
import uuid

import harness

NAMESPACE = "search"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
KEPT = 15  # Seconds of a Job that has ended, instead of its ttlSecondsAfterFinished; the daemon looks every 10.


class Pod:
    """A pod of a Job: an object of the API, and a process."""

    def __init__(self, job, index, folder):
        self.job = job
        self.index = index
        self.folder = folder
        self.process = None
        self.ended = False
        self.disrupted = ""
        template = job["spec"]["template"]
        self.container = template["spec"]["containers"][0]
        name = f"{job['metadata']['name']}-{index}-{uuid.uuid4().hex[:5]}"
        self.object = {"metadata": {"name": name, "uid": str(uuid.uuid4()), "labels": template["metadata"]["labels"],
                                    "ownerReferences": [{"kind": "Job", "name": job["metadata"]["name"], "uid": job["metadata"]["uid"]}]},
                       "spec": template["spec"], "status": {"phase": "Pending"}}

    def says(self, phase, **state):
        self.object["status"] = {"phase": phase, "containerStatuses": [{"name": self.container["name"], "state": state}]}
        if self.disrupted:
            self.object["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": self.disrupted}]

    def word(self, text):
        """An argument as the container gets it; its directories are those of this pod."""
        text = text.replace("$(JOB_COMPLETION_INDEX)", str(self.index)).replace("$$", "$")
        return re.sub(r"^(@?)(/run/hpsearch|/hpsearch)(?=/|$)", lambda found: f"{found[1]}{self.folder}{found[2]}", text)

    def start(self, secret):
        (self.folder / "hpsearch").mkdir(parents=True)
        (self.folder / "run" / "hpsearch").mkdir(parents=True)
        for name, text in secret.items():
            path = self.folder / "run" / "hpsearch" / name
            path.write_text(text)
            path.chmod(0o400)
        words = [self.word(word) for word in self.container["command"] + self.container["args"]]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder / "hpsearch",
                                            env=harness.environment() | {"HOME": str(self.folder / "hpsearch")})
        self.says("Running", running={})

    def evict(self, reason):
        self.disrupted = reason
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def look(self, secrets):
        """A step of its life."""
        secret = next((volume["secret"]["secretName"] for volume in self.object["spec"]["volumes"] if "secret" in volume), None)
        if self.ended:
            return
        if self.container["image"].startswith("missing"):
            self.says("Pending", waiting={"reason": "ImagePullBackOff", "message": f"Back-off pulling image {self.container['image']}"})
        elif self.process is None and (secret is None or secret in secrets):
            self.start(secrets[secret]["stringData"] if secret else {})
        elif self.process is None:
            self.says("Pending", waiting={"reason": "ContainerCreating"})
        elif self.process.poll() is not None:
            self.ended = True
            code = self.process.returncode
            self.says("Succeeded" if code == 0 else "Failed",
                      terminated={"exitCode": code if code >= 0 else 128 - code, "reason": "Completed" if code == 0 else "Error"})


class ScriptedKubernetes:
    """Started by start(), ended by stop(). `faults`: what happens to the next requests, in order: a status (410 for lists only), "cut", or
    "" for nothing. `refusal`: (status, message) for each new Job. `on_secret`: called
    instead of making a Secret. `asked`: all requests; `strange`: those that the daemon's role does
    not admit."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.lock = threading.RLock()
        self.jobs, self.secrets, self.pods = {}, {}, []
        self.ended_at = {}
        self.faults, self.asked, self.strange = [], [], []
        self.refusal = None
        self.on_secret = None
        self.token = "first"
        self.is_away = False
        self.over = threading.Event()

    def start(self):
        self.folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-keyout", self.folder / "key", "-out", self.folder / "certificate", "-subj", "/CN=tests",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "certificate", self.folder / "key")
        context.load_verify_locations(self.folder / "certificate")
        context.verify_mode = ssl.CERT_OPTIONAL  # A client's certificate is the server's own.
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                api.handle(self)

            do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = do

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def finish_request(self, request, address):  # On the thread of the connection.
                with context.wrap_socket(request, server_side=True) as wrapped:
                    super().finish_request(wrapped, address)

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.threads = [threading.Thread(target=self.server.serve_forever), threading.Thread(target=self.control)]
        for thread in self.threads:
            thread.start()
        self.write_token(self.token)
        self.admit({"tokenFile": "token"})
        return self

    def admit(self, user):
        """The daemon's credentials from now on."""
        authority = base64.b64encode((self.folder / "certificate").read_bytes()).decode()
        (self.folder / "config").write_text(json.dumps({
            "current-context": "tests", "contexts": [{"name": "tests", "context": {"cluster": "c", "user": "u", "namespace": NAMESPACE}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.server.server_address[1]}",
                                                   "certificate-authority-data": authority}}],
            "users": [{"name": "u", "user": user}]}))

    def write_token(self, token):
        with self.lock:
            self.token = token
            (self.folder / "token").write_text(token + "\n")

    @property
    def environment(self):
        return {"KUBECONFIG": str(self.folder / "config")}

    def stop(self):
        self.over.set()
        self.server.shutdown()
        for thread in self.threads:
            thread.join()
        self.server.server_close()
        for pod in self.pods:
            if pod.process is not None and pod.process.poll() is None:
                pod.process.kill()
                pod.process.wait()

    # --- the controllers ---

    def control(self):
        while not self.over.wait(0.1):
            with self.lock:
                for pod in self.pods:
                    pod.look(self.secrets)
                for name in list(self.jobs):
                    self.look_at_job(name)
                self.pods = [pod for pod in self.pods if pod.job["metadata"]["name"] in self.jobs]
                for name, secret in list(self.secrets.items()):
                    if not any(owner["name"] in self.jobs for owner in secret["metadata"]["ownerReferences"]):
                        del self.secrets[name]

    def look_at_job(self, name):
        job = self.jobs[name]
        pods = [pod for pod in self.pods if pod.job is job]
        live = [pod for pod in pods if pod.process is not None and not pod.ended]
        if "deletionTimestamp" in job["metadata"]:
            for pod in live:
                if not pod.disrupted:
                    pod.evict("deleted")
            if not live:
                del self.jobs[name]
        elif pods and all(pod.ended for pod in pods) and name not in self.ended_at:
            failed = any(pod.object["status"]["phase"] == "Failed" for pod in pods)
            self.ended_at[name] = time.monotonic()
            job["status"] = {"conditions": [{"type": "Failed" if failed else "Complete", "status": "True",
                                             "reason": "FailedIndexes" if failed else "CompletionsReached"}]}
        elif name in self.ended_at and time.monotonic() - self.ended_at[name] > KEPT:
            del self.jobs[name]

    def unfinished(self):
        """The Jobs and Secrets that are there."""
        return [*self.jobs, *self.secrets]

    def running(self):
        with self.lock:
            return [pod for pod in self.pods if pod.process is not None and pod.process.poll() is None]

    # --- the API ---

    def handle(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        path, _, query = request.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        with self.lock:
            self.asked.append(f"{request.command} {path}")
            fault = self.faults.pop(0) if self.faults else ""
            fault = "" if fault == 410 and (request.command, path) != ("GET", JOBS) else fault
            if self.is_away or fault == "cut":
                request.close_connection = True
                return
            if fault:
                status, answer = fault, {"message": f"fault {fault}"}
            elif request.headers.get("Authorization") != f"Bearer {self.token}" and not request.connection.getpeercert():
                status, answer = 401, {"message": "Unauthorized"}
            else:
                status, answer = self.answer(request.command, path, query, json.loads(body) if body else None)
        text = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(text)))
        if status in (429, 503):
            request.send_header("Retry-After", "0")
        request.end_headers()
        request.wfile.write(text)

    def answer(self, method, path, query, body):
        name = path.rpartition("/")[2]
        if (method, path) == ("POST", JOBS):
            return self.create_job(body, query)
        if method == "GET" and path == JOBS:
            return self.page(list(self.jobs.values()), query)
        if method in ("GET", "DELETE") and path == f"{JOBS}/{name}":
            if name not in self.jobs:
                return 404, {"message": f'jobs.batch "{name}" not found'}
            if method == "DELETE":
                self.jobs[name]["metadata"].setdefault("deletionTimestamp", "now")
            return 200, self.jobs[name]
        if (method, path) == ("POST", f"{CORE}/secrets"):
            name = body["metadata"]["name"]
            if self.on_secret:
                self.on_secret()
                return 500, {}
            if name in self.secrets:
                return 409, {"message": f'secrets "{name}" already exists'}
            self.secrets[name] = body
            return 201, body
        if (method, path) == ("GET", f"{CORE}/pods"):
            return self.page([pod.object for pod in self.pods], query)
        if (method, path) == ("GET", f"{CORE}/events"):
            return self.page([], query)
        if method == "GET" and path.startswith(f"{CORE}/pods/") and name == "log":
            found = [pod for pod in self.pods if pod.object["metadata"]["name"] == path.split("/")[-2]]
            log = found[0].folder / "log" if found else None
            return (200, log.read_text(errors="replace")) if log and log.exists() else (404, {"message": "not found"})
        self.strange.append(f"{method} {path}")
        return 403, {"message": f"{method} {path} is forbidden"}

    def create_job(self, job, query):
        name = job["metadata"]["name"]
        if self.refusal:
            return self.refusal[0], {"message": self.refusal[1]}
        if name in self.jobs:
            return 409, {"message": f'jobs.batch "{name}" already exists'}
        job = json.loads(json.dumps(job))
        job["metadata"]["uid"] = str(uuid.uuid4())
        if query.get("dryRun") != "All":
            self.jobs[name] = job
            self.pods += [Pod(job, index, self.folder / f"{name}-{index}") for index in range(job["spec"]["completions"])]
        return 201, job

    @staticmethod
    def page(items, query):
        """One item on each page: a list that is read only to its first page misses some."""
        wanted = dict(pair.split("=") for pair in query.get("labelSelector", "").split(",") if "=" in pair)
        wanted.pop("batch.kubernetes.io/job-name", None)
        items = [item for item in items if wanted.items() <= item["metadata"].get("labels", {}).items()]
        at = int(query.get("continue", 0))
        more = {"continue": str(at + 1)} if at + 1 < len(items) else {}
        return 200, {"items": items[at:at + 1], "metadata": more}
