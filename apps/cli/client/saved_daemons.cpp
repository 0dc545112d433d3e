#include "cli/client/saved_daemons.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>

#include "cli/client/state_directory.hpp"
#include "cli/render/text.hpp"
#include "daemon/store/files/file_system.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_token_bytes = 4096;

/// The absolute path in an environment variable.
std::optional<fs::path> path_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text == '/' ? std::optional<fs::path>(text) : std::nullopt;
}

}  // namespace

const SavedDaemon* SavedDaemons::find(const std::string& name) const noexcept {
  const auto found =
      std::find_if(daemons.begin(), daemons.end(), [&](const SavedDaemon& one) { return one.name == name; });
  return found == daemons.end() ? nullptr : &*found;
}

fs::path saved_daemons_file() {
  const fs::path home = path_in("HOME").value_or("/");
  return path_in("XDG_CONFIG_HOME").value_or(home / ".config") / "hpsearch" / "contexts.json";
}

Outcome<SavedDaemons> load_saved_daemons() {
  const fs::path path = saved_daemons_file();
  const auto bytes = daemon::kernel_files().read(path.string());
  if (!bytes) {
    return bytes.error().code == engine::Errc::not_found ? Outcome<SavedDaemons>(SavedDaemons())
                                                         : Outcome<SavedDaemons>(failure_of(bytes.error()));
  }
  const auto value = proto::parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  auto saved =
      value ? proto::decode_value<SavedDaemons>(*value) : engine::Result<SavedDaemons>(value.error());
  if (!saved) {
    return Failure{Exit::failed, engine::Errc::corrupt,
                   path.string() + ": " + saved.error().message +
                       "; remove the file and add the daemons again with "
                       "hpsearch context add"};
  }
  return *std::move(saved);
}

Outcome<engine::Done> save(const SavedDaemons& saved) {
  const fs::path path = saved_daemons_file();
  if (const auto made = make_private_directory(path.parent_path()); !made) {
    return made.failure();
  }
  const auto failed = files::replace_file(path, proto::pretty_json(proto::encode_value(saved)) + "\n",
                                          files::Durability::of_the_disk, files::Readers::owner);
  return failed ? Outcome<engine::Done>(failure_of(failed->as_error()))
                : Outcome<engine::Done>(engine::Done{});
}

Outcome<std::string> read_token_file(const std::string& path) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    struct stat found {};
    std::ifstream file(path, std::ios::binary);
    if (!file || ::stat(path.c_str(), &found) != 0) {
      return usage_failure("--token-file \"" + printable(path) +
                           "\" cannot be read: " + std::strerror(errno));
    }
    if (S_ISREG(found.st_mode) && (found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
      return usage_failure("--token-file \"" + printable(path) + "\" may be read by other users; chmod 600 " +
                           printable(path));
    }
    std::array<char, most_token_bytes> buffer{};
    file.read(buffer.data(), buffer.size());
    text.assign(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  constexpr std::string_view blank = " \t\r\n";
  text.erase(0, std::min(text.find_first_not_of(blank), text.size()));
  text.erase(text.find_last_not_of(blank) + 1);
  if (text.empty() || text.size() > most_token_bytes || text.find_first_of(blank) != std::string::npos) {
    return usage_failure("--token-file \"" + printable(path) + "\" does not hold one token");
  }
  return text;
}

}  // namespace hpsearch::cli
