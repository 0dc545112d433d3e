"""Plays the kubelet for one pod: prepares its volumes as a kubelet does, and starts its container as a process of this machine,
in a root directory that is read-only, as the pod's user, as process 1 of a PID namespace, with the pod's name as host name.
The image is this machine's /usr and our programs. The network is this machine's."""

import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOKEN_PLACE = "/var/run/secrets/kubernetes.io/serviceaccount"


def missing():
    """Why pods cannot be played here; "" = they can."""
    if os.geteuid() != 0:
        return "needs root to make namespaces"
    lacking = [name for name in ("unshare", "setpriv", "chroot", "ip") if shutil.which(name) is None]
    if lacking:
        return f"needs {', '.join(lacking)}"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--uts", "--net", "--fork", "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"needs namespaces, which are refused here: {tried.stderr.strip()}"


def enter_own_network():
    """Starts this program again in a network without anybody else: the ports of the manifests are free there."""
    mark = "HPSEARCH_OWN_NETWORK"
    if missing():
        return
    if mark not in os.environ:
        os.environ[mark] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def variables_of(container, pod):
    """The environment of the container, with fields of its pod."""
    about = pod["metadata"]
    fields = {"metadata.name": about["name"], "metadata.namespace": about.get("namespace", "default")}
    for kind in ("labels", "annotations"):
        fields |= {f"metadata.{kind}['{name}']": value for name, value in about.get(kind, {}).items()}
    variables = {}
    for one in container.get("env", []):
        variables[one["name"]] = one["value"] if "value" in one else fields[one["valueFrom"]["fieldRef"]["fieldPath"]]
    return variables


def expanded(word, variables):
    """"$(NAME)" is a variable, "$$" a dollar sign."""
    text, at = "", 0
    while at < len(word):
        end = word.find(")", at)
        name = word[at + 2:end] if word.startswith("$(", at) and end != -1 else None
        if word.startswith("$$", at):
            text, at = text + "$", at + 2
        elif name in variables:
            text, at = text + variables[name], end + 1
        else:
            text, at = text + word[at], at + 1
    return text


class PodProcess:
    """`programs`: directory of our programs. `objects`: (kind, name) → object, for Secrets and ConfigMaps of volumes.
    `claims`: directory of persistent volumes. `account`: files of the service account. `variables`: of every container."""

    def __init__(self, pod, folder, programs, hosts="", objects=None, claims=None, account=None, variables=None, seen=()):
        self.pod = pod
        self.spec = pod["spec"]
        self.container = self.spec["containers"][0]
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.programs = pathlib.Path(programs).resolve()
        self.objects = objects or {}
        self.claims = pathlib.Path(claims or self.folder / "claims")
        self.log = self.folder / "log"
        (self.folder / "hosts").write_text(f"127.0.0.1 localhost {pod['metadata']['name']}\n{hosts}")
        self.environment = {"PATH": f"{self.programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.environment |= (variables or {}) | variables_of(self.container, pod)
        self.mounts = [(self.volume(one["name"]), one["mountPath"], one.get("readOnly", False))
                       for one in self.container.get("volumeMounts", [])]
        if account:
            place = self.folder / "account"
            place.mkdir()
            for name, text in account.items():
                self.write_for_group(place / name, text)
            self.mounts.append((place, TOKEN_PLACE, True))
        self.mounts += [(path, str(path), True) for path in (self.programs, *map(pathlib.Path, seen))]
        self.popen = None

    def group(self):
        return self.spec["securityContext"]["fsGroup"]

    def write_for_group(self, path, text):
        path.write_text(text)
        os.chown(path, 0, self.group())
        path.chmod(0o440)

    def volume(self, name):
        """The directory of a volume; as its content, owners and modes are when a kubelet has made it."""
        volume = next(one for one in self.spec["volumes"] if one["name"] == name)
        place = self.folder / "volumes" / name
        if "persistentVolumeClaim" in volume:
            place = self.claims / volume["persistentVolumeClaim"]["claimName"]
        if place.exists():
            return place  # fsGroupChangePolicy: OnRootMismatch
        place.mkdir(parents=True)
        os.chown(place, 0, self.group())
        place.chmod(0o2777 if "emptyDir" in volume else 0o2775)
        if "secret" in volume:
            secret = self.objects[("Secret", volume["secret"]["secretName"])]
            for key, text in secret.items():
                self.write_for_group(place / key, text)
        return place

    def script(self):
        root = self.folder / "root"
        root.mkdir(exist_ok=True)
        lines = [f"mount -t tmpfs none {root}", f"mkdir -p {root}/usr {root}/etc {root}/proc {root}/dev",
                 f"mount --rbind /dev {root}/dev", f"mount -t proc none {root}/proc",
                 f"hostname {self.pod['metadata']['name']}"]
        for name in ("bin", "sbin", "lib", "lib64"):
            lines.append(f"ln -s usr/{name} {root}/{name}")
        for name in ("usr", "etc"):
            lines.append(f"mount --bind /{name} {root}/{name} && mount -o remount,bind,ro {root}/{name}")
        lines.append(f"mount --bind {self.folder}/hosts {root}/etc/hosts")
        for source, target, read_only in self.mounts:
            lines.append(f"mkdir -p {root}{target} && mount --bind {source} {root}{target}")
            if read_only:
                lines.append(f"mount -o remount,bind,ro {root}{target}")
        lines.append(f"mount -o remount,ro {root}")
        lines.append(f"exec chroot {root} {self.command()}")
        return "\n".join(lines)

    def command(self):
        context = self.spec["securityContext"]
        words = ["setpriv", f"--reuid={context['runAsUser']}", f"--regid={context['runAsGroup']}", f"--groups={self.group()}",
                 "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all",
                 "env", "-i", f"--chdir={self.container.get('workingDir', '/')}"]
        words += [f"{name}={value}" for name, value in self.environment.items()]
        words += [expanded(word, self.environment) for word in self.container["command"] + self.container.get("args", [])]
        return shlex.join(words)

    def start(self):
        self.child = None
        with open(self.log, "ab") as log:
            self.popen = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--propagation", "private",
                 "sh", "-euc", self.script()], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def first(self):
        """The container's process 1, as this machine numbers it."""
        children = pathlib.Path(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children")
        while self.child is None and self.popen.poll() is None:
            found = children.read_text().split()
            self.child = int(found[0]) if found else None
        return self.child

    def run(self, *words, stdin=None):
        """As kubectl exec: another process in the container."""
        environment = [f"{name}={value}" for name, value in self.environment.items()]
        context = self.spec["securityContext"]
        return subprocess.run(
            ["nsenter", f"--target={self.first()}", "--mount", "--pid", "--uts", "--root", "--wd", "setpriv",
             f"--reuid={context['runAsUser']}", f"--regid={context['runAsGroup']}", f"--groups={self.group()}",
             "env", "-i", *environment, *words], capture_output=True, text=True, input=stdin, timeout=120)

    def is_over(self):
        return self.popen.poll() is not None

    def signal(self, number):
        if not self.is_over() and self.first() is not None:
            try:
                os.kill(self.child, number)
            except ProcessLookupError:
                pass

    def stop(self, grace=None):
        """SIGTERM, and SIGKILL after the pod's grace period; the exit code."""
        self.signal(signal.SIGTERM)
        try:
            return self.popen.wait(self.spec.get("terminationGracePeriodSeconds", 30) if grace is None else grace)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.popen.wait()
            return 137

    def said(self):
        return self.log.read_text(errors="replace")[-4000:]
