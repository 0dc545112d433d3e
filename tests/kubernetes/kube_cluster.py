"""A real Kubernetes control plane on this machine: etcd, kube-apiserver, kube-scheduler and kube-controller-manager, with RBAC and
service accounts, in a directory and on ports of its own. Its nodes are objects that somebody plays (played_nodes.py)."""

import base64
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import time
import urllib.parse

import harness

PROGRAMS = pathlib.Path(os.environ.get("HPSEARCH_KUBERNETES", harness.ROOT / "build" / "kubernetes"))
ADMIN = "admin-of-the-tests"
# Heartbeats of nodes are nobody's here.
CONTROLLERS = "*,-node-lifecycle-controller,-device-taint-eviction-controller"


def missing():
    """What this machine lacks for a control plane; "" = nothing."""
    lacking = [name for name in ("control_plane", "etcd") if not (PROGRAMS / name).exists()]
    return f"{PROGRAMS} has no {' and no '.join(lacking)} (scripts/setup kubernetes)" if lacking else ""


class Refused(Exception):
    """An answer of the API that is no success."""

    def __init__(self, status, answer):
        super().__init__(f"{status}: {answer.get('message', answer)}")
        self.status = status
        self.answer = answer


class Api:
    """The API as one user: objects are dictionaries."""

    def __init__(self, cluster, token):
        self.cluster = cluster
        self.token = token
        self.warnings = []

    def ask(self, method, path, body=None, kind="application/json"):
        connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, timeout=60, context=self.cluster.trust)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Authorization": f"Bearer {self.token}", "Content-Type": kind, "Accept": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            self.warnings += answer.headers.get_all("Warning") or []
        finally:
            connection.close()
        found = json.loads(text) if text.startswith(b"{") else {"message": text.decode(errors="replace")}
        if answer.status >= 300:
            raise Refused(answer.status, found)
        return found

    def get(self, path, **query):
        return self.ask("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""))

    def merge(self, path, body):
        return self.ask("PATCH", path, body, "application/merge-patch+json")

    def may(self, verb, group, resource, namespace, subresource=""):
        """Whether this user may, as the API itself answers."""
        attributes = {"verb": verb, "group": group, "resource": resource, "namespace": namespace, "subresource": subresource}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                  "spec": {"resourceAttributes": attributes}}
        return self.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)["status"]["allowed"]


PLURALS = {"StatefulSet": "statefulsets", "NetworkPolicy": "networkpolicies"}


def path_of(manifest, namespace):
    """Where objects of its kind are."""
    version = manifest["apiVersion"]
    place = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    plural = PLURALS.get(manifest["kind"], manifest["kind"].lower() + "s")
    return f"{place}/{plural}" if manifest["kind"] in ("Namespace", "Node", "PersistentVolume") else \
        f"{place}/namespaces/{namespace}/{plural}"


class KubeCluster:
    """Started by start(), ended by stop(). `api` is the administrator's."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.processes = []
        self.port = harness.free_port()
        self.api = None
        self.trust = None

    def start(self):
        (self.root / "log").mkdir(parents=True)
        self.make_certificates()
        self.begin_etcd()
        self.begin("kube-apiserver",
                   f"--etcd-servers=http://127.0.0.1:{self.etcd_port}", "--bind-address=127.0.0.1", f"--secure-port={self.port}",
                   "--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
                   f"--tls-cert-file={self.root}/server.crt", f"--tls-private-key-file={self.root}/server.key",
                   f"--token-auth-file={self.root}/tokens.csv", "--authorization-mode=RBAC",
                   "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={self.root}/account.key",
                   f"--service-account-signing-key-file={self.root}/account.key", "--profiling=false")
        self.trust = ssl.create_default_context(cafile=str(self.root / "ca.crt"))
        self.api = Api(self, ADMIN)
        harness.wait_for(self.is_ready, "kube-apiserver to be ready", self.said)
        access = self.kubeconfig(ADMIN)
        self.begin("kube-controller-manager", f"--kubeconfig={access}", "--leader-elect=false", "--secure-port=0",
                   f"--service-account-private-key-file={self.root}/account.key", f"--root-ca-file={self.root}/ca.crt",
                   f"--controllers={CONTROLLERS}")
        self.begin("kube-scheduler", f"--kubeconfig={access}", "--leader-elect=false", "--secure-port=0")
        harness.wait_for(lambda: self.has("/api/v1/namespaces/default/serviceaccounts/default"), "the controllers to work", self.said)
        return self

    def openssl(self, *words):
        done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, cwd=self.root)
        if done.returncode != 0:
            raise AssertionError(f"openssl {words}: {done.stderr}")

    def make_certificates(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2, "-keyout", "ca.key",
                     "-out", "ca.crt", "-subj", "/CN=tests", "-addext", "basicConstraints=critical,CA:TRUE",
                     "-addext", "keyUsage=critical,keyCertSign")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
                     "-out", "server.csr", "-subj", "/CN=kube-apiserver")
        (self.root / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n")
        self.openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", 2,
                     "-extfile", "names", "-out", "server.crt")
        self.openssl("genrsa", "-out", "account.key", 2048)
        (self.root / "tokens.csv").write_text(f"{ADMIN},admin,1,system:masters\n")

    def begin_etcd(self):
        self.etcd_port = harness.free_port()
        peers = harness.free_port()
        self.run(PROGRAMS / "etcd", "--data-dir", self.root / "etcd",
                 "--listen-client-urls", f"http://127.0.0.1:{self.etcd_port}", "--advertise-client-urls",
                 f"http://127.0.0.1:{self.etcd_port}", "--listen-peer-urls", f"http://127.0.0.1:{peers}",
                 "--initial-advertise-peer-urls", f"http://127.0.0.1:{peers}", "--initial-cluster", f"default=http://127.0.0.1:{peers}")

    def begin(self, name, *options):
        self.run(PROGRAMS / "control_plane", name, *options)

    def run(self, program, *words):
        name = words[0] if program.name == "control_plane" else program.name
        with open(self.root / "log" / name, "ab") as log:
            self.processes.append(subprocess.Popen([str(program), *map(str, words)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                   cwd=self.root, env={"PATH": "/usr/bin:/bin", "HOME": str(self.root)}))

    def kubeconfig(self, token):
        """A file for programs that speak to the API."""
        path = self.root / f"kubeconfig-{token[:16]}"
        authority = base64.b64encode((self.root / "ca.crt").read_bytes()).decode()
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "tests",
            "clusters": [{"name": "tests", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                       "certificate-authority-data": authority}}],
            "users": [{"name": "tests", "user": {"token": token}}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests", "namespace": "trials"}}]}))
        path.chmod(0o600)
        return path

    def is_ready(self):
        ended = [process.args for process in self.processes if process.poll() is not None]
        if ended:
            raise AssertionError(f"{ended[0][:2]} has ended: {self.said()}")
        try:
            return self.api.ask("GET", "/readyz") is not None
        except (OSError, Refused):
            return False

    def has(self, path):
        try:
            return bool(self.api.get(path))
        except Refused as refused:
            if refused.status != 404:
                raise
            return False

    def create(self, manifest, namespace="trials", api=None, dry=False):
        query = "?fieldValidation=Strict" + ("&dryRun=All" if dry else "")
        return (api or self.api).ask("POST", path_of(manifest, namespace) + query, manifest)

    def make_namespace(self, name="trials", **labels):
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        harness.wait_for(lambda: self.has(f"/api/v1/namespaces/{name}/serviceaccounts/default"), "the namespace's account", self.said)

    def account(self, name, namespace="trials"):
        """The files that a pod has of its service account."""
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        made = self.api.ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", request)
        return {"token": made["status"]["token"], "ca.crt": (self.root / "ca.crt").read_text(), "namespace": namespace}

    def said(self):
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-1500:]}" for path in sorted((self.root / "log").iterdir()))

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []
