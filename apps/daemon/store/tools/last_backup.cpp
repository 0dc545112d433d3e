#include "daemon/store/tools/last_backup.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <span>

#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/file_system.hpp"

namespace hpsearch::daemon {
namespace {

/// In microseconds.
constexpr const char* record_name = "/last-good";

/// Best effort: if it fails, this process is not root and the owner is the same anyway.
void give_to_owner_of(const std::string& directory, const std::string& path) {
  struct stat owner {};
  if (::stat(directory.c_str(), &owner) == 0 && ::geteuid() != owner.st_uid) {
    static_cast<void>(::lchown(path.c_str(), owner.st_uid, owner.st_gid) == 0);
  }
}

}  // namespace

std::optional<engine::Instant> last_backup_of(const std::string& state_directory) {
  const auto bytes = kernel_files().read(state_directory + backups_directory + record_name);
  if (!bytes) {
    return std::nullopt;
  }
  const char* const text = reinterpret_cast<const char*>(bytes->data());
  std::int64_t micros = 0;
  return std::from_chars(text, text + bytes->size(), micros).ec == std::errc()
             ? std::optional(engine::Instant::from_micros(micros))
             : std::nullopt;
}

engine::Status note_backup(const std::string& state_directory, engine::Instant made) {
  const std::string directory = state_directory + backups_directory;
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error("cannot make the directory " + directory);
  }
  give_to_owner_of(state_directory, directory);
  const std::string text = std::to_string(made.micros()) + "\n";
  const std::array parts{std::as_bytes(std::span(text))};
  if (auto written = write_file_durably(kernel_files(), directory + record_name, parts); !written) {
    return written;
  }
  give_to_owner_of(state_directory, directory + record_name);
  return engine::Done{};
}

}  // namespace hpsearch::daemon
