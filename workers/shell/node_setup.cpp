#include "hpsearch/workers/shell/node_setup.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/stored.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_file = std::size_t{1024} * 1024;

// $0 is the setup's directory. The lock is the kernel's: it goes with whoever held it.
constexpr const char* script = R"sh(
if ! test -e "$0/done"; then
  exec 9>"$0/lock" && flock 9 || exit 1
  if ! test -e "$0/done"; then
    if test -f requirements.txt; then
      python3 -m pip install --disable-pip-version-check --upgrade --target "$0/packages" -r requirements.txt 1>&2 9>&- || {
        status=$?
        echo "hpsearch: requirements.txt could not be installed (pip ended with status $status)" >&2
        exit $status
      }
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

/// Size and checksum of each file, or "-": who writes requirements does not mean to make two of them look
/// alike.
std::string name_of(const fs::path& file, bool& exists) {
  const engine::Result<std::string> text = read_file(file, longest_file);
  exists = text.has_value();
  if (!text) {
    return "-";
  }
  const std::uint32_t crc = proto::crc32c(0, std::as_bytes(std::span(*text)));
  return std::to_string(text->size()) + "." + std::to_string(crc);
}

void put_first(std::map<std::string, std::string>& environment, const std::string& name,
               const std::string& place) {
  std::string& value = environment[name];
  value = value.empty() ? place : place + ":" + value;
}

}  // namespace

std::optional<NodeSetup> setup_of(const fs::path& work, const std::string& digest, const fs::path& setups) {
  NodeSetup setup;
  const std::string requirements = name_of(work / "requirements.txt", setup.has_requirements);
  const std::string hook = name_of(work / "startup-hook.sh", setup.has_hook);
  if (!setup.has_requirements && !setup.has_hook) {
    return std::nullopt;
  }
  setup.directory = setups / (digest.empty() ? requirements + "_" + hook : digest);
  return setup;
}

void put_setup_before(const NodeSetup& setup, ProgramStart& program) {
  if (setup.has_requirements) {
    put_first(program.environment, "PYTHONPATH", (setup.directory / "packages").string());
    put_first(program.environment, "PATH", (setup.directory / "packages" / "bin").string());
  }
  const std::string words[] = {"/bin/sh", "-c", script, setup.directory.string()};
  program.argv.insert(program.argv.begin(), std::begin(words), std::end(words));
}

}  // namespace hpsearch::workers
