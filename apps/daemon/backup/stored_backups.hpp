#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/backup/backup_place.hpp"

namespace hpsearch::daemon {

/// Backups in an object store. Each is made and checked in the staging directory, uploaded, compared with
/// what the store has, and only then gets its record there.
class StoredBackups final : public BackupPlace {
 public:
  StoredBackups(BackupAddress address, Settings settings);

  [[nodiscard]] engine::Result<std::optional<BackupRecord>> newest() override;
  [[nodiscard]] engine::Status prepare() override;
  [[nodiscard]] std::string path_of(const std::string& name) const override;
  [[nodiscard]] engine::Result<std::string> take(const std::string& name) override;
  void keep_newest(std::uint64_t count) override;

 private:
  /// Names of whole backups, oldest first.
  [[nodiscard]] engine::Result<std::vector<std::string>> whole() const;
  engine::Status run(std::vector<std::string> words) const;
  engine::Status upload(const std::string& name) const;
  engine::Status remove(const std::string& name) const;

  BackupAddress address_;
  Settings settings_;
};

}  // namespace hpsearch::daemon
