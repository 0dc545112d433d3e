"""What each launch.kind adds to a program's variables and files, byte for byte: on one worker, and on two.

Programs in Python, shell and C++ write down what they find; tests/e2e/witness.py knows what that has to be, and
the tables below what each kind adds. Nothing else may be there: programs change what they do by RANK's mere presence.
"""

import json
import pathlib
import unittest

import harness
import witness

SLOTS = 2
HYPERPARAMETERS = {"lr": 0.001, "batch-size": 32}
ARGUMENTS = ["--batch-size", "32", "--lr", "0.001"]
COMMAND = ["/bin/sh", "-c", witness.ALL.format(args='--batch-size "$HPSEARCH_HP_BATCH_SIZE" --lr "$HPSEARCH_HP_LR"')]
ADDRESSES = {"first": "127.0.0.2", "second": "127.0.0.3"}
GANG_PORTS = range(23456, 27456)


def process(nodes, rank, local, port):
    return {}


def pytorch_nodes(nodes, rank, local, port):
    return {"RANK": rank, "WORLD_SIZE": len(nodes), "MASTER_ADDR": nodes[0], "MASTER_PORT": port, "NPROC_PER_NODE": SLOTS}


def pytorch_processes(nodes, rank, local, port):
    return {"RANK": rank * SLOTS + local, "WORLD_SIZE": len(nodes) * SLOTS, "LOCAL_RANK": local,
            "LOCAL_WORLD_SIZE": SLOTS, "GROUP_RANK": rank, "MASTER_ADDR": nodes[0], "MASTER_PORT": port}


def tensorflow(nodes, rank, local, port):
    if len(nodes) == 1:
        return {}
    config = {"cluster": {"chief": [f"{nodes[0]}:{port}"], "worker": [f"{node}:{port}" for node in nodes[1:]]},
              "task": {"type": "worker" if rank else "chief", "index": max(rank - 1, 0)}, "environment": "cloud"}
    return {"TF_CONFIG": witness.compact(config)}


def tensorflow_roles(role):
    """A chief, and that one beside it."""
    def adds(nodes, rank, local, port):
        config = {"cluster": {"chief": [f"{nodes[0]}:{port}"], role: [f"{nodes[1]}:{port}"]},
                  "task": {"type": role if rank else "chief", "index": 0}, "environment": "cloud"}
        return {"TF_CONFIG": witness.compact(config)}
    return adds


def xgboost(nodes, rank, local, port):
    alone = {"RANK": rank, "WORLD_SIZE": len(nodes), "MASTER_ADDR": nodes[0], "MASTER_PORT": port}
    return alone if len(nodes) == 1 else alone | {"WORKER_ADDRS": ",".join(nodes[1:]), "WORKER_PORT": port}


def elastic_batch(nodes, rank, local, port):
    config = witness.compact({"task": {"type": "worker", "index": rank}, "environment": "cloud"})
    return {"ELASTICBATCH_CONFIG": config, "ElASTICBATCH_CONFIG": config}


def mpi(nodes, rank, local, port):
    return {"HPSEARCH_HOSTFILE": None}  # Its path is the attempt's: filled in below.


# launch, what it adds, on how many workers, and how many processes each of them starts.
ROWS = [
    ({"kind": "process"}, process, 1, 1),
    ({"kind": "pytorch"}, pytorch_nodes, 1, 1),
    ({"kind": "pytorch", "rank": "node"}, pytorch_nodes, 2, 1),
    ({"kind": "pytorch", "rank": "process"}, pytorch_processes, 1, SLOTS),
    ({"kind": "pytorch", "rank": "process"}, pytorch_processes, 2, SLOTS),
    ({"kind": "tensorflow"}, tensorflow, 1, 1),
    ({"kind": "tensorflow"}, tensorflow, 2, 1),
    ({"kind": "tensorflow", "roles": {"ps": 1}}, tensorflow_roles("ps"), 2, 1),
    ({"kind": "tensorflow", "roles": {"evaluator": 1}}, tensorflow_roles("evaluator"), 2, 1),
    ({"kind": "xgboost"}, xgboost, 1, 1),
    ({"kind": "xgboost"}, xgboost, 2, 1),
    ({"kind": "elastic_batch"}, elastic_batch, 1, 1),
    ({"kind": "elastic_batch"}, elastic_batch, 2, 1),
    ({"kind": "mpi"}, mpi, 1, 1),
    ({"kind": "mpi"}, mpi, 2, 1),
]


class LaunchKinds(harness.Case):
    def setUp(self):
        super().setUp()
        self.maxDiff = None
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        for name, address in ADDRESSES.items():
            self.cluster.start_worker(SLOTS, name, "--address", address, extra=witness.STRANGER)
        harness.wait_for(lambda: len(self.cluster.get("/api/v1/workers")["workers"]) == 2, "both workers")

    def submit(self, launch, workers, processes):
        row = self.folder / f"row-{'-'.join(map(str, launch.values()))}-{workers}"
        row.mkdir()
        # mpi's program starts the others itself.
        together = 1 if launch["kind"] == "mpi" else workers * processes
        return row, together, self.cluster.submit({
            "name": "witness",
            "entrypoint": witness.ALL,
            "launch": launch,
            "resources": {"slots_per_trial": SLOTS * workers},
            "hyperparameters": HYPERPARAMETERS,
            "searcher": {"name": "single", "metric": "loss", "max_length": {"epochs": 2}},
            "environment": {"environment_variables": {"WITNESS_DIR": str(row), "WITNESS_COUNT": str(together)}},
            "max_restarts": 0,
        })

    def test_each_kind(self):
        submitted = [self.submit(launch, workers, processes) for launch, _, workers, processes in ROWS]
        for (launch, adds, workers, processes), (row, together, experiment) in zip(ROWS, submitted):
            with self.subTest(launch=launch, workers=workers):
                self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))
                self.check(experiment, witness.accounts(row), adds, workers, together)

    def check(self, experiment, accounts, adds, workers, together):
        by_language = harness.count(account.language for account in accounts)
        self.assertEqual(by_language, {language: together for language in witness.LANGUAGES})
        trial, = self.cluster.trials(experiment)
        places = {int(account.environment["VC_TASK_INDEX"]): pathlib.Path(account.environment["HPSEARCH_PARAMS_FILE"]).parent
                  for account in accounts}
        nodes = ["127.0.0.1"]
        if workers == 2:
            # Who leads is the daemon's choice; an attempt lies below its worker's state directory, named like the worker.
            leader = ADDRESSES[places[0].relative_to(self.folder).parts[0]]
            nodes = sorted(ADDRESSES.values(), key=lambda address: address != leader)
        ports = {self.port(account.environment) for account in accounts} - {None}
        self.assertLessEqual(len(ports), 1, "they are to meet at one place")
        port = next(iter(ports), None)
        if port is not None:
            self.assertIn(port, range(1024, 65536) if workers == 1 else GANG_PORTS)
        ranks = set()
        for account in accounts:
            found = account.environment
            rank, local = int(found["VC_TASK_INDEX"]), int(found.get("LOCAL_RANK", 0))
            ranks.add((account.language, rank, local))
            own = adds(nodes, rank, local, port)
            if "HPSEARCH_HOSTFILE" in own:
                own["HPSEARCH_HOSTFILE"] = places[rank] / "ml/input/config/hostfile"
                self.assertEqual(account.text("hostfile"), "".join(f"{node} slots={SLOTS}\n" for node in nodes))
            attempt = witness.Attempt(
                places[rank], HYPERPARAMETERS, experiment=experiment, trial=trial["id"], length=2,
                seed=int(found["HPSEARCH_TRIAL_SEED"]), nodes=nodes, rank=rank, reports=(rank, local) == (0, 0),
                slots=list(range(SLOTS)), threads=witness.threads(SLOTS, SLOTS * int(own.get("LOCAL_WORLD_SIZE", 1))),
                own=own | {"WITNESS_DIR": found["WITNESS_DIR"], "WITNESS_COUNT": together},
                command=COMMAND)
            self.assertEqual(account.was_given(), attempt.environment(found))
            self.assertEqual(account.job(), attempt.training_job())
            self.assertEqual(account.arguments, ARGUMENTS)
        self.assertEqual(len(ranks), len(accounts), "each process is another")

    @staticmethod
    def port(environment):
        if "TF_CONFIG" in environment:
            return int(json.loads(environment["TF_CONFIG"])["cluster"]["chief"][0].rpartition(":")[2])
        return int(environment["MASTER_PORT"]) if "MASTER_PORT" in environment else None


if __name__ == "__main__":
    unittest.main(verbosity=2)
