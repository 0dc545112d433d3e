#!/usr/bin/python3
"""Writes which software the files of a release contain or need, in SPDX 2.3 as JSON: sbom.py DIST COMMIT SECONDS

DIST has the wheel, the Debian packages and whatever else is released; SECONDS is the time of the commit. The wheel names the
libraries that its programs contain (licenses/), the Debian packages name those that they need, and clients/web/package-lock.json
those in the dashboard. Versions of Debian's packages are those of this machine, which has built the programs. The file is
DIST/hpsearch-VERSION.spdx.json.
"""

import base64
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse
import zipfile

import version

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCK = ROOT / "clients" / "web" / "package-lock.json"


def identifier(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(spdx_id, name, number, licence, purl, **more):
    return {"SPDXID": spdx_id, "name": name, "versionInfo": number, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]}


def npm_packages():
    """The packages that the dashboard contains."""
    for path, entry in sorted(json.loads(LOCK.read_text(encoding="utf-8"))["packages"].items()):
        if not path or entry.get("dev"):
            continue
        name = path.rsplit("node_modules/", 1)[1]
        digest = base64.b64decode(entry["integrity"].removeprefix("sha512-")).hex()
        yield package(identifier("npm", name), name, entry["version"], entry.get("license", "NOASSERTION"),
                      f"pkg:npm/{urllib.parse.quote(name)}@{entry['version']}",
                      checksums=[{"algorithm": "SHA512", "checksumValue": digest}])


def debian_package(name):
    """A package of this machine; None if it isn't installed."""
    asked = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version} ${source:Package}", name],
                           capture_output=True, text=True, check=False)
    words = asked.stdout.split()
    if asked.returncode != 0 or words[0] != "installed":
        return None
    return package(identifier("deb", name), name, words[1], "NOASSERTION",
                   f"pkg:deb/debian/{urllib.parse.quote(name)}@{urllib.parse.quote(words[1])}?distro=bookworm",
                   sourceInfo=f"built from the source package {words[2]} of Debian", supplier="Organization: Debian")


def contained_in(wheel):
    """The -dev packages whose static libraries or headers the programs of the wheel contain."""
    with zipfile.ZipFile(wheel) as archive:
        names = (re.fullmatch(r"hpsearch_programs/licenses/([a-z0-9.+-]+)", entry) for entry in archive.namelist())
        return sorted({found[1] for found in names if found})


def needed_by(deb):
    """The first alternative of each dependency, without our own packages."""
    depends = subprocess.run(["dpkg-deb", "--field", deb, "Depends"], capture_output=True, text=True, check=True).stdout
    names = {re.split(r"[ |:(]", word.strip())[0] for word in depends.split(",") if word.strip()}
    return sorted(name for name in names if "hpsearch" not in name)


def describe(dist, commit, seconds):
    number = version.version_of(ROOT)
    root = package("SPDXRef-hpsearch", "hpsearch", number, "Apache-2.0", f"pkg:generic/hpsearch@{number}", sourceInfo=f"commit {commit}")
    packages, links = [root], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-hpsearch")]

    def add(found, relation):
        if all(one["SPDXID"] != found["SPDXID"] for one in packages):
            packages.append(found)
        links.append(("SPDXRef-hpsearch", relation, found["SPDXID"]))

    for found in npm_packages():
        add(found, "CONTAINS")
    contained = {name for wheel in sorted(dist.glob("hpsearch-*.whl")) for name in contained_in(wheel)}
    needed = {name for deb in sorted(dist.glob("*.deb")) for name in needed_by(deb)}
    for names, relation in ((contained, "STATIC_LINK"), (needed, "DEPENDS_ON")):
        for name in sorted(names):
            found = debian_package(name)
            if found is None and relation == "STATIC_LINK":
                raise SystemExit(f"sbom.py: a wheel contains {name}, which isn't installed here; make it where the wheel was built")
            if found:
                add(found, relation)
    files = []
    for path in sorted(path for path in dist.iterdir() if path.is_file() and not path.name.endswith(".spdx.json")):
        content = path.read_bytes()
        files.append({"SPDXID": identifier("file", path.name), "fileName": f"./{path.name}",
                      "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
                      "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"})
        links.append((files[-1]["SPDXID"], "GENERATED_FROM", "SPDXRef-hpsearch"))
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"hpsearch-{number}",
        "documentNamespace": f"urn:hpsearch:release:{number}:{commit}",
        "creationInfo": {"created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: hpsearch-sbom.py"]},
        "packages": packages, "files": files,
        "relationships": [{"spdxElementId": one, "relationshipType": relation, "relatedSpdxElement": other}
                          for one, relation, other in links],
    }


def main(dist, commit, seconds):
    dist = pathlib.Path(dist)
    found = describe(dist, commit, int(seconds))
    path = dist / f"{found['name']}.spdx.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(found['packages'])} packages, {len(found['files'])} files")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: sbom.py DIST COMMIT SECONDS")
    main(*sys.argv[1:])
