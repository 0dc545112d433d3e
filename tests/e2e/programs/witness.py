"""Writes down everything that a program finds when it is started: what the worker gave it, byte for byte.

Then it waits until as many programs as WITNESS_COUNT says have done so, as those do that work together.
"""

import glob
import os
import shutil
import sys
import time

everybody = os.environ["WITNESS_DIR"]
to = os.path.join(everybody, "python.{}".format(os.getpid()))
os.makedirs(to)


def write(name, pieces):
    with open(os.path.join(to, name), "wb") as file:
        file.write(b"".join(piece + b"\0" for piece in pieces))


write("environment", [name + b"=" + value for name, value in os.environb.items()])
write("arguments", [os.fsencode(word) for word in sys.argv[1:]])
write("directory", [os.fsencode(os.getcwd())])
for name in ("hyperparameters.json", "training_job.json"):
    shutil.copy(os.path.join(os.environ["PAI_CONFIG_DIR"], name), to)
shutil.copy(os.environ["HPSEARCH_PARAMS_FILE"], os.path.join(to, "params.json"))
if "HPSEARCH_HOSTFILE" in os.environ:
    shutil.copy(os.environ["HPSEARCH_HOSTFILE"], os.path.join(to, "hostfile"))
write("done", [])
while len(glob.glob(os.path.join(everybody, "python.*", "done"))) < int(os.environ.get("WITNESS_COUNT", 1)):
    time.sleep(0.01)
print('HPSEARCH {"step": 1, "loss": 0.5}')
