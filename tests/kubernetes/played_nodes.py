"""Plays the nodes of a KubeCluster: a kubelet's part of each pod's life, with processes of this machine as containers
(pod_process.py). What it says about pods is what a kubelet says."""

import base64
import datetime
import signal
import threading
import time

import kube_cluster
import pod_process


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class PlayedNodes:
    """`variables`, `hosts`, `seen`: as PodProcess has them. Pods whose image begins with "missing" wait for it for ever."""

    def __init__(self, cluster, folder, programs, hosts="", seen=()):
        self.cluster, self.api = cluster, cluster.api
        self.folder, self.programs, self.hosts, self.seen = folder, programs, hosts, seen
        self.pods = {}  # uid → PodProcess, or None once its end was reported
        self.asked_to_end = {}  # uid → when it is killed
        self.ending = threading.Event()
        self.problems = []
        self.thread = threading.Thread(target=self.play)

    def add(self, name, cpu="4", memory="8Gi", **more):
        self.api.ask("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}}})
        room = {"cpu": cpu, "memory": memory, "pods": "50", "ephemeral-storage": "100Gi"} | more
        self.api.merge(f"/api/v1/nodes/{name}/status", {"status": {
            "capacity": room, "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "played", "lastHeartbeatTime": now(),
                            "lastTransitionTime": now()}]}})
        self.api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})

    def start(self):
        self.thread.start()
        return self

    def stop(self):
        self.ending.set()
        self.thread.join()
        for process in self.pods.values():
            if process is not None:
                process.stop(5)

    def play(self):
        while not self.ending.is_set():
            try:
                for pod in self.api.get("/api/v1/pods")["items"]:
                    if pod["spec"].get("nodeName"):
                        self.look_at(pod)
            except kube_cluster.Refused as refused:  # A pod that is gone meanwhile.
                if refused.status not in (404, 409):
                    self.problems.append(str(refused))
            except OSError:
                pass
            self.ending.wait(0.2)

    def path(self, pod):
        return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

    def look_at(self, pod):
        uid = pod["metadata"]["uid"]
        if pod["metadata"].get("deletionTimestamp"):
            self.end(pod, uid)
        elif uid not in self.pods:
            self.begin(pod, uid)
        elif self.pods[uid] is not None and self.pods[uid].is_over():
            if pod["spec"]["restartPolicy"] == "Always":
                self.pods[uid].start()
            else:
                self.report_end(pod, uid)

    def waits(self, pod, reason, message):
        container = pod["spec"]["containers"][0]
        self.say(pod, "Pending", {"name": container["name"], "image": container["image"], "imageID": "", "ready": False,
                                  "restartCount": 0, "state": {"waiting": {"reason": reason, "message": message}}})

    def begin(self, pod, uid):
        image = pod["spec"]["containers"][0]["image"]
        if image.startswith("missing"):
            self.waits(pod, "ImagePullBackOff", f'Back-off pulling image "{image}"')
            return
        objects = {}
        for volume in pod["spec"].get("volumes", []):
            if "secret" in volume:
                name = volume["secret"]["secretName"]
                path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/secrets/{name}"
                if not self.cluster.has(path):
                    self.waits(pod, "ContainerCreating", "")
                    return
                objects[("Secret", name)] = self.decoded(self.api.get(path)["data"])
        account = None
        if pod["spec"].get("automountServiceAccountToken", False):
            account = self.cluster.account(pod["spec"]["serviceAccountName"], pod["metadata"]["namespace"])
        process = pod_process.PodProcess(
            self.without_projections(pod), self.folder / f"{pod['metadata']['name']}-{uid[:8]}", self.programs, hosts=self.hosts,
            objects=objects, claims=self.folder / "claims", account=account, seen=self.seen,
            variables={"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.cluster.port)})
        self.pods[uid] = process.start()
        container = pod["spec"]["containers"][0]
        self.say(pod, "Running", {"name": container["name"], "image": image, "imageID": image, "ready": True, "started": True,
                                  "restartCount": 0, "state": {"running": {"startedAt": now()}}})

    @staticmethod
    def decoded(data):
        return {key: base64.b64decode(text).decode() for key, text in data.items()}

    @staticmethod
    def without_projections(pod):
        """The account's token is added by the API as a volume; PodProcess mounts it by itself."""
        names = {volume["name"] for volume in pod["spec"].get("volumes", []) if "projected" in volume}
        container = pod["spec"]["containers"][0]
        container["volumeMounts"] = [mount for mount in container.get("volumeMounts", []) if mount["name"] not in names]
        return pod

    def say(self, pod, phase, status):
        ready = "True" if phase == "Running" else "False"
        conditions = [{"type": name, "status": ready, "lastTransitionTime": now()} for name in ("Ready", "ContainersReady")]
        # Conditions of others, such as an eviction's, stay.
        self.api.ask("PATCH", self.path(pod) + "/status", {"status": {"phase": phase, "conditions": conditions, "startTime": now(),
                                                                      "containerStatuses": [status]}},
                     "application/strategic-merge-patch+json")

    def report_end(self, pod, uid):
        process, self.pods[uid] = self.pods[uid], None
        code = process.popen.returncode
        code = 128 - code if code < 0 else code
        container = pod["spec"]["containers"][0]
        self.say(pod, "Succeeded" if code == 0 else "Failed",
                 {"name": container["name"], "image": container["image"], "imageID": container["image"], "ready": False,
                  "restartCount": 0, "state": {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error",
                                                              "startedAt": now(), "finishedAt": now()}}})

    def end(self, pod, uid):
        process = self.pods.get(uid)
        if process is not None and not process.is_over():
            if uid not in self.asked_to_end:
                grace = pod["metadata"].get("deletionGracePeriodSeconds", 30)
                self.asked_to_end[uid] = time.monotonic() + grace
                process.signal(signal.SIGTERM)
            elif time.monotonic() > self.asked_to_end[uid]:
                process.signal(signal.SIGKILL)
            return
        if process is not None:
            self.report_end(pod, uid)
        self.api.ask("DELETE", self.path(pod), {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
                                                "preconditions": {"uid": uid}})
