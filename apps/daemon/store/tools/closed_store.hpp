#pragma once

#include <memory>
#include <string>

#include "daemon/store/files/store_lock.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "daemon/store/tools/stored_log.hpp"

namespace hpsearch::daemon {

/// A store in an SQLite file that no daemon has open, or a copy of one: read without changing a byte.
///
/// Owns:    the store's lock; no daemon can start on it meanwhile.
class ClosedStore final : public StoredLog {
 public:
  /// not_found: there is none; wrong_state: a daemon has it; corrupt: not a store, or its header is damaged;
  /// version_mismatch: another format than this build's.
  [[nodiscard]] static engine::Result<std::unique_ptr<ClosedStore>> open(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  /// Also corrupt: names the place in the write-ahead log after which more was stored. The last event is
  /// that of the store, or of the seal beside it.
  engine::Status read(const Visit& visit) override;
  /// Damage that SQLite finds in its pages.
  [[nodiscard]] engine::Result<std::string> damaged_pages() override;
  engine::Status check_tables(const engine::Event& event) override;
  engine::Status check_table_sizes(std::uint64_t metrics, std::uint64_t trial_events) override;
  engine::Status copy_to(const std::string& path) override;

 private:
  ClosedStore() = default;

  StoreLock lock_;  // Declared before the file, which must be closed first: see StoreLock.
  SqliteFile file_;
  Statement find_metric_;
  Statement find_in_history_;
  engine::Status write_ahead_log_ = engine::Done{};
};

}  // namespace hpsearch::daemon
