#!/usr/bin/python3
"""Checks who includes whom, and that the rooms that decide stay pure (docs/architecture.md).

    check_layers.py [ROOT]       prints `file:line: what is wrong` for each breach; exit 1 if there is one
    check_layers.py --self-test  plants breaches in a made-up tree and checks that each is found
"""

import pathlib
import re
import sys
import tempfile

# Room: (rooms it may include beside itself, third-party headers its sources may include, is it pure).
# A folder belongs to the first room whose name its path begins with.
IO = {"io/arguments", "io/net", "io/files", "io/archive", "io/checkpoints", "io/configuration"}
JOBS = {"jobs", "jobs/patterns", "jobs/yaml"}
PROTO = {"proto", "proto/sentences", "proto/views"}
ROOMS = {
    "engine": (set(), "", True),
    "searchers": ({"engine"}, r"Eigen/", True),
    "jobs/patterns": ({"engine", "jobs"}, r"re2/", True),
    "jobs/yaml": ({"engine", "proto"}, r"yaml-cpp/", True),
    "jobs": ({"engine"}, "", True),
    "proto/sentences": ({"engine"}, "", True),
    "proto/views": ({"engine", "proto", "proto/sentences"}, "", True),
    "proto": ({"engine", "jobs", "proto/sentences"}, r"msgpack|nlohmann/", True),
    "clients/c": ({"engine", "searchers", "proto"}, "", True),
    "io/net": ({"engine/base", "proto", "io/files"}, r"boost/|cjose/|zmq|zlib\.h", False),
    "io/files": ({"engine/base"}, "", False),
    "io/arguments": ({"engine/base"}, r"CLI/", False),
    "io/archive": ({"engine/base", "io/files"}, r"archive|zstd", False),
    "io/checkpoints": ({"engine", "jobs", "proto", "io/files"}, "", False),
    "io/configuration": ({"engine", "jobs/yaml", "io/files"}, r"CLI/", False),
    "workers/core": ({"engine", "jobs", "proto"}, "", True),
    "workers/shell": ({"engine", "jobs", "jobs/patterns", "proto", "workers/core"} | IO, r"CLI/", False),
    "workers/determined": ({"engine", "jobs", "proto", "io/net", "io/files", "workers/core", "workers/shell"}, "", False),
    "apps/daemon/store": ({"engine", "proto", "io/files"}, r"sqlite3\.h|libpq-fe\.h", False),
    "apps/daemon/keys": ({"engine", "proto", "io/net", "io/files", "apps/daemon/store"}, "", False),
    "apps/daemon/audit": ({"engine", "proto", "io/files"}, "", False),
    "apps/daemon/notifications": ({"engine", "proto", "io/net", "io/files", "jobs/yaml"}, r"sodium\.h", False),
    "apps/daemon/backup": ({"engine", "proto", "io/files", "apps/daemon/store"}, "", False),
    "apps/daemon": ({"engine", "searchers", "apps/daemon/store", "apps/daemon/keys", "apps/daemon/audit",
                     "apps/daemon/backup", "apps/daemon/notifications"} | JOBS | PROTO | IO, r"CLI/|zlib\.h|cjose/", False),
    "apps/cli/surrogates": ({"engine", "proto"}, r"Eigen/", True),
    # preview, validate and simulate run offline, so the command line needs the searchers themselves; the store's
    # tools are for when no daemon runs, so it needs the store.
    "apps/cli": ({"engine", "searchers", "apps/cli/surrogates", "io/arguments", "io/net", "io/files", "io/archive", "apps/daemon/store",
                  "apps/daemon/keys", "apps/daemon/audit", "apps/daemon/backup", "apps/daemon/notifications"} | JOBS | PROTO, r"CLI/|re2/|ncurses\.h", False),
    # Both programs, for a main() of somebody else's; and all programs in one file, for static builds.
    "apps/programs": ({"engine", "searchers", "workers/shell", "workers/determined", "apps/daemon", "apps/cli"}, "", False),
}
# Folders of one library.
SAME_ROOM = {"io/http": "io/net", "io/zmq": "io/net"}

# Inside the engine, from the ground up: each sub-room may include itself and what stands before it.
ENGINE_ORDER = ["base", "space", "learnt", "searcher", "config", "trial", "alloc", "experiment", "cluster", "scheduler", "state",
                "engine", "step", "search", "sim"]
# Private headers through which the sources of several sub-rooms take part in one step; headers may not include them.
SHARED_BY_A_STEP = {"experiment/engine_state.hpp": "state", "applier.hpp": "step", "event_checks.hpp": "step",
                    "step.hpp": "step"}
PARTS_OF_A_STEP = {"alloc", "experiment", "cluster", "scheduler", "engine"}

STANDARD = set("""algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
    cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal
    cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem
    forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits
    list locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex
    scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf
    string string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility valarray variant vector version stdint.h""".split())
THIRD_PARTY = re.compile(
    r"boost/|zmq|zstd|zlib\.h|ncurses\.h|msgpack|nlohmann/|sqlite3\.h|libpq-fe\.h|yaml-cpp/|CLI/|re2/|archive|gtest/|gmock/|benchmark/|Eigen/|rapidcheck")
# What a pure room has no business with: clocks, threads, files, the environment, sockets, the library's chance.
IMPURE_HEADERS = set("""atomic barrier chrono condition_variable csetjmp csignal ctime filesystem fstream future
    iostream latch mutex random semaphore shared_mutex stop_token syncstream thread""".split())
IMPURE_WORDS = re.compile(
    r"\b(?:getenv|secure_getenv|setenv|system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday|"
    r"std::time|std::clock|fopen|freopen|tmpfile|std::rand|srand|random_device|mt19937(?:_64)?|thread_local|"
    r"pthread_\w+|std::j?thread|std::async|ifstream|ofstream|std::cin|std::cout)\b")
# Other platforms and how programs are started: the business of the rooms above (docs/architecture.md).
FOREIGN_WORDS = re.compile(
    r"determined|modelarts|kubedl|\bPAI\b|pai_|docker|podman|rclone|pytorch|\bNNI\b|W&B|wandb|katib|"
    r"\b(?:anneal|bayes_opt|tpe)_search\b|\bbayes\b|(?-i:bohb)|mobster|model_asha|num_samples|n_initial_points",
    re.IGNORECASE)
SEARCH_ROOMS = {"engine", "searchers"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
                      r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)


def blank(text, keep_includes):
    """The text without comments (and literals), every line where it was."""
    def erase(match):
        if keep_includes and match[0].startswith('"'):
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])
    return NOT_CODE.sub(erase, text)


def room_of(path):
    path = re.sub(r"^(\w+)/include/hpsearch/\1/", r"\1/", path)  # several rooms, one folder of headers
    for part, room in SAME_ROOM.items():
        path = re.sub(f"^{part}/", room + "/", path)
    for room in ROOMS:
        if path.startswith(room + "/"):
            return room
    return path.split("/")[0] if "/" in path else ""


def engine_floor(path):
    inside = re.sub(r"^engine/(?:include/hpsearch/engine|src)/", "", path)
    floor = SHARED_BY_A_STEP.get(inside) or re.split(r"[/.]", inside)[0]
    return floor if floor in ENGINE_ORDER else None


def may_enter(room, included):
    allowed = ROOMS[room][0] | {room}
    return room_of(included) in allowed or (
        "engine/base" in allowed and room_of(included) == "engine" and engine_floor(included) == "base")


def breaches_of(root, path, public):
    """Yields (line, what) for one file; `public` maps an include path to the file that provides it."""
    text = (root / path).read_text(encoding="utf-8")
    room = room_of(path)
    if room not in ROOMS:
        yield 1, "this file is in no room"
        return
    _, third_party, pure = ROOMS[room]
    is_header = path.endswith(".hpp")
    line_of = lambda offset: text.count("\n", 0, offset) + 1

    for match in INCLUDE.finditer(blank(text, keep_includes=True)):
        line, name = line_of(match.start(1)), match[2]
        if match[1] == '"':
            found = public.get(name)
            for folder in () if found else (root / path).parents:  # a private header: beside or further up
                if (folder / name).is_file() and folder.is_relative_to(root):
                    found = (folder / name).relative_to(root).as_posix()
                    break
            if found is None:
                yield line, f"{name} is in no room"
            elif "/include/" in path and "/include/" not in found:
                yield line, f"{name} is private: a public header may not include it"
            elif not may_enter(room, found):
                yield line, f"{room} may not see {room_of(found)} ({name})"
            elif room == "engine" and room_of(found) == "engine":
                here, there = engine_floor(path), engine_floor(found)
                if here is None or there is None:
                    yield line, f"{path if here is None else name} belongs to no sub-room of the engine"
                elif ENGINE_ORDER.index(there) > ENGINE_ORDER.index(here) and not (
                        there in SHARED_BY_A_STEP.values() and here in PARTS_OF_A_STEP and not is_header):
                    yield line, f"engine/{here} may not see engine/{there} ({name})"
            continue
        if name in STANDARD:
            if pure and name in IMPURE_HEADERS:
                yield line, f"{room} decides; it has no use for <{name}>"
        elif THIRD_PARTY.match(name):
            if not (third_party and re.match(third_party, name)):
                yield line, f"{room} may not use <{name}>"
            elif is_header and not re.match(r"io/(?:net|http|zmq)/", path):
                yield line, f"<{name}> belongs into a .cpp file: our headers stay free of other people's"
        elif pure:
            yield line, f"{room} may use the standard library only, not <{name}>"

    if room in SEARCH_ROOMS:
        for match in FOREIGN_WORDS.finditer(text):
            yield line_of(match.start()), f"{room} knows no other platform and no way to start programs: {match[0]}"
    code = blank(text, keep_includes=False)
    if pure:
        for match in IMPURE_WORDS.finditer(code):
            yield line_of(match.start()), f"{room} decides; it has no use for {match[0]}"


def check(root):
    tops = dict.fromkeys(room if room.startswith("clients/") else room.split("/")[0] for room in ROOMS)
    files = [path.relative_to(root).as_posix() for top in tops for path in sorted((root / top).rglob("*"))
             if path.suffix in (".hpp", ".cpp", ".h")]
    public = {path.split("/include/", 1)[1]: path for path in files if "/include/" in path}
    for path in files:
        for line, what in breaches_of(root, path, public):
            yield f"{path}:{line}: {what}"


SELF_TEST = {  # file: (content, what must be said about it; nothing when it is fine)
    "engine/include/hpsearch/engine/base/id.hpp": ("#pragma once\n#include <cstdint>\n", []),
    "engine/include/hpsearch/engine/trial/trial.hpp": ('#include "hpsearch/engine/base/id.hpp"\n', []),
    "engine/include/hpsearch/engine/engine.hpp": ('#include "hpsearch/engine/trial/trial.hpp"\n', []),
    "engine/src/step.hpp": ('#include "hpsearch/engine/engine.hpp"\n', []),
    "engine/src/scheduler/schedule.cpp": ('#include "step.hpp"\n', []),
    "engine/src/trial/trial.cpp": ('\n#include "step.hpp"\n', [":2: engine/trial may not see engine/step"]),
    "engine/include/hpsearch/engine/trial/private.hpp": ('#include "step.hpp"\n', [":1: step.hpp is in no room"]),
    "workers/include/hpsearch/workers/core/private.hpp": (
        '#include "workers/core/part.hpp"\n', [":1: workers/core/part.hpp is private"]),
    "workers/core/part.hpp": ("", []),
    "engine/include/hpsearch/engine/base/up.hpp": (
        '#include "hpsearch/engine/engine.hpp"\n', [":1: engine/base may not see engine/engine"]),
    "engine/src/base/sideways.cpp": (
        '#include "hpsearch/searchers/asha.hpp"\n', [":1: engine may not see searchers"]),
    "engine/src/base/clock.cpp": (
        "#include <chrono>\n// steady_clock is fine in a comment\nauto now = std::chrono::steady_clock::now();\n",
        [":1: engine decides; it has no use for <chrono>", ":3: engine decides; it has no use for steady_clock"]),
    "engine/src/base/posix.cpp": ("#include <unistd.h>\n", [":1: engine may use the standard library only"]),
    "engine/src/scheduler/foreign.cpp": (
        "// As Determined does.\n", [":1: engine knows no other platform"]),
    "searchers/src/foreign.cpp": (
        '\nconst char* other = "bayes_opt_search";\n', [":2: searchers knows no other platform"]),
    "engine/src/base/text.cpp": ('const char* help = "std::cout, getenv";\n', []),
    "searchers/include/hpsearch/searchers/asha.hpp": ('#include "hpsearch/engine/engine.hpp"\n', []),
    "searchers/src/halving/asha.cpp": ("#include <random>\n", [":1: searchers decides; it has no use for <random>"]),
    "proto/include/hpsearch/proto/encoding/json.hpp": (
        "#include <nlohmann/json.hpp>\n", [":1: <nlohmann/json.hpp> belongs into"]),
    "proto/encoding/json.cpp": ('#include <nlohmann/json.hpp>\n#include "hpsearch/proto/encoding/json.hpp"\n', []),
    "proto/sentences/story.cpp": (
        '#include "hpsearch/engine/base/id.hpp"\n#include "hpsearch/proto/encoding/json.hpp"\n',
        [":2: proto/sentences may not see proto"]),
    "apps/cli/surrogates/model.cpp": (
        '#include <Eigen/Core>\n#include "hpsearch/proto/encoding/json.hpp"\n#include "hpsearch/searchers/asha.hpp"\n',
        [":3: apps/cli/surrogates may not see searchers"]),
    "io/include/hpsearch/io/net/loop.hpp": ('#include "hpsearch/engine/base/id.hpp"\n', []),
    "io/net/loop.cpp": (
        '#include <boost/asio.hpp>\n#include "hpsearch/engine/engine.hpp"\n', [":2: io/net may not see engine"]),
    "workers/shell/main.cpp": (
        '#include <boost/asio.hpp>\n#include "hpsearch/io/net/loop.hpp"\n',
        [":1: workers/shell may not use <boost/asio"]),
    "apps/daemon/process/main.cpp": (
        '#include "hpsearch/searchers/asha.hpp"\n#include "apps/cli/render/table.hpp"\n',
        [":2: apps/daemon may not see apps/cli"]),
    "apps/daemon/store/log.cpp": (
        '#include <sqlite3.h>\n#include "apps/daemon/core/runtime.hpp"\n#include "hpsearch/io/net/loop.hpp"\n',
        [":2: apps/daemon/store may not see apps/daemon", ":3: apps/daemon/store may not see io/net"]),
    "apps/daemon/core/runtime.hpp": ('#include "apps/daemon/store/log.hpp"\n#include <sqlite3.h>\n',
                                [":2: apps/daemon may not use <sqlite3.h>"]),
    "apps/daemon/store/log.hpp": ("", []),
    "apps/cli/admin/store.cpp": ('#include "apps/daemon/store/log.hpp"\n', []),
    "apps/cli/render/table.hpp": ("", []),
    "workers/include/hpsearch/workers/core/backoff.hpp": ('#include "hpsearch/engine/base/id.hpp"\n', []),
    "workers/core/backoff.cpp": (
        '#include "hpsearch/workers/core/backoff.hpp"\n#include <thread>\n', [":2: workers/core decides"]),
    "workers/loose.cpp": ("", [":1: this file is in no room"]),
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, (content, _) in SELF_TEST.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, encoding="utf-8")
        found = list(check(root))
    expected = [path + said for path, (_, all_said) in SELF_TEST.items() for said in all_said]
    wrong = [f"not found: {said}" for said in expected if not any(line.startswith(said) for line in found)]
    wrong += [f"found without cause: {line}" for line in found if not any(line.startswith(said) for said in expected)]
    print("\n".join(wrong) or f"all {len(expected)} planted breaches found, and nothing else")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    breaches = list(check(root))
    print("\n".join(breaches) or "all includes follow the layering")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
