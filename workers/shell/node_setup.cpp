#include "hpsearch/workers/shell/node_setup.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_file = std::size_t{1024} * 1024;

// $0 is the setup's directory, $1 the Python that installs ("": nothing is installed). The kernel releases
// the lock when its holder ends.
//
// PYTHONPATH comes before a Python's own packages, and packages that are installed here have to come after
// them; otherwise a program would find other packages than when it is run manually. So PYTHONPATH has only a
// sitecustomize, which Python runs when its own packages are set up. It then runs the sitecustomize that it
// hides.
constexpr const char* script = R"sh(
python=$1
shift
if ! test -e "$0/done"; then
  exec 9>"$0/lock" && flock 9 || exit 1
  if ! test -e "$0/done"; then
    if test -n "$python"; then
      "$python" -m pip install --disable-pip-version-check --upgrade --target "$0/packages" -r requirements.txt 1>&2 9>&- || {
        status=$?
        echo "hpsearch: requirements.txt could not be installed with $python (pip ended with status $status)" >&2
        exit $status
      }
      mkdir -p "$0/site" && cat > "$0/site/sitecustomize.py" <<'END' || exit 1
import importlib.machinery, importlib.util, os, site, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [each for each in sys.path if not each or os.path.abspath(each) != here]
site.addsitedir(os.path.join(os.path.dirname(here), "packages"))
hidden = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if hidden is not None and hidden.loader is not None:
    sys.modules["sitecustomize"] = module = importlib.util.module_from_spec(hidden)
    hidden.loader.exec_module(module)
END
    fi
    if test -f startup-hook.sh; then
      sh startup-hook.sh 1>&2 9>&- || {
        status=$?
        echo "hpsearch: startup-hook.sh failed with status $status" >&2
        exit $status
      }
    fi
    : > "$0/done" || exit 1
  fi
  exec 9>&-
fi
exec "$@")sh";

/// Size and checksum of each file, or "-". A deliberate collision of checksums would only harm its own
/// author.
std::string name_of(const fs::path& file, bool& exists) {
  const engine::Result<std::string> text = read_file(file, longest_file);
  exists = text.has_value();
  if (!text) {
    return "-";
  }
  const std::uint32_t crc = proto::crc32c(0, std::as_bytes(std::span(*text)));
  return std::to_string(text->size()) + "." + std::to_string(crc);
}

/// The same for a Python: its name, and its current version.
std::string name_of(const SetupPython& python) {
  const std::string text = python.word + "\n" + python.file;
  const std::uint32_t crc = proto::crc32c(0, std::as_bytes(std::span(text)));
  return "_python." + std::to_string(text.size()) + "." + std::to_string(crc);
}

}  // namespace

std::optional<NodeSetup> setup_of(const fs::path& work, const std::string& digest,
                                  const std::optional<SetupPython>& python, const fs::path& setups) {
  NodeSetup setup;
  bool has_requirements = false;
  const std::string requirements =
      python ? name_of(work / "requirements.txt", has_requirements) : std::string("-");
  const std::string hook = name_of(work / "startup-hook.sh", setup.has_hook);
  if (!has_requirements && !setup.has_hook) {
    return std::nullopt;
  }
  setup.python = has_requirements ? python->word : "";
  setup.directory = setups / ((digest.empty() ? requirements + "_" + hook : digest) +
                              (has_requirements ? name_of(*python) : ""));
  return setup;
}

void put_setup_before(const NodeSetup& setup, ProgramStart& program) {
  if (!setup.python.empty()) {
    std::string& modules = program.environment["PYTHONPATH"];
    modules = (setup.directory / "site").string() + (modules.empty() ? "" : ":" + modules);
    std::string& commands = program.environment["PATH"];
    commands += (commands.empty() ? "" : ":") + (setup.directory / "packages" / "bin").string();
  }
  const std::string words[] = {"/bin/sh", "-c", script, setup.directory.string(), setup.python};
  program.argv.insert(program.argv.begin(), std::begin(words), std::end(words));
}

}  // namespace hpsearch::workers
