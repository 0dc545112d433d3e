"""An S3 server of the package moto, for tests of object stores."""

import http.client
import os
import shutil
import subprocess
import sys

import harness


def command():
    """How to start it, or None."""
    program = shutil.which("moto_server")
    candidates = [[str(harness.ROOT / "build" / "moto" / "bin" / "python3"), "-m", "moto.server"]]  # scripts/setup test
    candidates += [[program]] if program else []
    candidates += [[sys.executable, "-m", "moto.server"]]
    for words in candidates:
        try:
            if subprocess.run([*words, "--help"], capture_output=True, timeout=60).returncode == 0:
                return words
        except (OSError, subprocess.TimeoutExpired):
            continue
    return None


def start(case, words, bucket, port=None):
    """Starts it with an empty bucket until the end of the case; its process and its address."""
    port = port or harness.free_port()
    server = subprocess.Popen([*words, "-H", "127.0.0.1", "-p", str(port)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    case.addCleanup(server.wait)
    case.addCleanup(server.kill)

    def has_bucket():
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("PUT", f"/{bucket}")
            return connection.getresponse().status == 200
        except OSError:
            return False

    harness.wait_for(has_bucket, "the S3 server")
    return server, f"http://127.0.0.1:{port}"


def rclone(address, *words):
    """What rclone writes to its standard output; the bucket BUCKET is t:BUCKET."""
    keys = {"RCLONE_CONFIG_T_TYPE": "s3", "RCLONE_CONFIG_T_PROVIDER": "Other", "RCLONE_CONFIG_T_ENDPOINT": address,
            "RCLONE_CONFIG_T_ACCESS_KEY_ID": "anybody", "RCLONE_CONFIG_T_SECRET_ACCESS_KEY": "anything"}
    environment = {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}
    done = subprocess.run(["rclone", "--config=/dev/null", *words], env=environment | keys, capture_output=True, text=True,
                          timeout=60, check=True)
    return done.stdout


def names_in(address, bucket):
    """The paths of all objects in the bucket."""
    return sorted(rclone(address, "lsf", "-R", "--files-only", f"t:{bucket}").split())
