#include "daemon/backup/backup_place.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "daemon/backup/stored_backups.hpp"
#include "daemon/store/files/file_system.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr std::string_view removed_ending = ".removed";
constexpr std::string_view unfinished_ending = ".unfinished";

class BackupDirectory final : public BackupPlace {
 public:
  explicit BackupDirectory(Settings settings) : settings_(std::move(settings)) {}

  Result<std::optional<BackupRecord>> newest() override {
    const std::vector<std::string> names = whole();
    return names.empty() ? Result<std::optional<BackupRecord>>(std::nullopt)
                         : read_backup_record(path_of(names.back()));
  }

  Status prepare() override {
    std::error_code unknown;
    if (!fs::is_directory(settings_.to, unknown)) {
      return Error{Errc::unavailable,
                   settings_.to + " is not a directory; make it, or mount its file system"};
    }
    remove_remains();
    return Done{};
  }

  [[nodiscard]] std::string path_of(const std::string& name) const override {
    return settings_.to + "/" + name;
  }

  Result<std::string> take(const std::string& name) override { return path_of(name); }

  /// Renames before it removes: what an interruption leaves is no backup any more.
  void keep_newest(std::uint64_t count) override {
    std::vector<std::string> names = whole();
    names.resize(names.size() - std::min<std::size_t>(names.size(), count));
    for (const std::string& name : names) {
      const std::string path = path_of(name);
      if (const Status renamed = kernel_files().rename(path, path + std::string(removed_ending)); !renamed) {
        net::log(net::Level::warning, "an old backup stays: " + renamed.error().message);
      }
    }
    remove_remains();
  }

 private:
  /// Names of whole backups, oldest first.
  [[nodiscard]] std::vector<std::string> whole() const {
    std::vector<std::string> names;
    for (const std::string& name : kernel_files().names_in(settings_.to)) {
      if (!is_backup_name(settings_.prefix, name)) {
        continue;
      }
      if (const auto record = read_backup_record(path_of(name)); record && *record) {
        names.push_back(name);
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void remove_remains() const {
    for (const std::string& name : kernel_files().names_in(settings_.to)) {
      if (!name.starts_with(settings_.prefix) ||
          !(name.ends_with(removed_ending) || name.ends_with(unfinished_ending))) {
        continue;
      }
      std::error_code failed;
      fs::remove_all(path_of(name), failed);
      if (failed) {
        net::log(net::Level::warning, "cannot remove " + path_of(name) + ": " + failed.message());
      }
    }
  }

  Settings settings_;
};

}  // namespace

std::string backup_prefix(std::uint64_t store) {
  std::array<char, 32> text{};
  static_cast<void>(
      std::snprintf(text.data(), text.size(), "hpsearch-%016llx-", static_cast<unsigned long long>(store)));
  return text.data();
}

std::string backup_name(const std::string& prefix, engine::Instant at) {
  const std::time_t seconds = at.micros() / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  static_cast<void>(std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts));
  return prefix + text.data();
}

bool is_backup_name(const std::string& prefix, std::string_view name) {
  if (!name.starts_with(prefix)) {
    return false;
  }
  constexpr std::string_view form = "00000000T000000Z";
  const std::string_view time = name.substr(prefix.size());
  return std::equal(time.begin(), time.end(), form.begin(), form.end(), [](char found, char wanted) {
    return wanted == '0' ? found >= '0' && found <= '9' : found == wanted;
  });
}

Result<std::unique_ptr<BackupPlace>> BackupPlace::of(Settings settings) {
  if (!BackupAddress::is_meant(settings.to)) {
    return std::unique_ptr<BackupPlace>(std::make_unique<BackupDirectory>(std::move(settings)));
  }
  auto address = BackupAddress::read(settings.to, settings.endpoint_url);
  if (!address) {
    return address.error();
  }
  return std::unique_ptr<BackupPlace>(
      std::make_unique<StoredBackups>(std::move(address).value(), std::move(settings)));
}

}  // namespace hpsearch::daemon
