#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/store/event_store.hpp"
#include "daemon/store/files/file_system.hpp"
#include "daemon/store/sqlite_file.hpp"

namespace hpsearch::daemon {

/// Where a store is, and how it uses its files.
struct StorePlace {
  FileSystem& files = kernel_files();
  /// This many pages of 4 KiB accumulate in the write-ahead log before they are moved into the database:
  /// SQLite's default, 4 MB, which is quick to read at a start and not too much to move at once.
  int pages_per_checkpoint = 1'000;
};

/// An EventStore in one SQLite file. Other programs may read a copy of it; while the daemon runs no other
/// process can open it.
class SqliteStore final : public EventStore {
 public:
  /// Opens or makes the file, whose lock is `lock`; without one, takes it first. Nothing is written before
  /// the lock is held, and nothing if check_whole() refuses. wrong_state: another process has it open;
  /// corrupt: not one of our files, or damaged; not_found: something that was acknowledged is missing;
  /// version_mismatch: another format; unavailable: the file system refuses. Objects that `place` refers to
  /// must outlive the store.
  [[nodiscard]] static engine::Result<std::unique_ptr<SqliteStore>> open(
      const std::string& path, const StorePlace& place = {}, std::optional<StoreLock> lock = std::nullopt);
  ~SqliteStore() override;

  /// Begins to copy the store, including later changes, into an empty file.
  [[nodiscard]] engine::Result<SqliteFile::Copy> copy_to(SqliteFile& to);

  [[nodiscard]] std::uint64_t cluster() const noexcept override;
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override;
  engine::Status recover(const Visit& visit) override;
  engine::Status append(std::span<const engine::Event> group) override;
  [[nodiscard]] engine::Lsn last_lsn() const noexcept override;
  [[nodiscard]] engine::Lsn stored_lsn() const override;
  /// append() checks it too, before it reports that a group is durable. corrupt: names the file that was
  /// removed, renamed or replaced.
  [[nodiscard]] engine::Status check_ours() const override;
  [[nodiscard]] engine::Result<std::vector<engine::Event>> read(engine::Lsn after,
                                                                std::size_t limit) override;
  [[nodiscard]] engine::Result<std::vector<engine::Event>> history(engine::ExperimentId experiment,
                                                                   engine::TrialNumber trial) override;
  [[nodiscard]] engine::Result<std::vector<MetricPoint>> metrics(engine::ExperimentId experiment,
                                                                 engine::TrialNumber trial,
                                                                 MetricPosition after,
                                                                 std::size_t enough_numbers) override;
  [[nodiscard]] engine::Result<CurvePage> curves(engine::ExperimentId experiment, const std::string& metric,
                                                 CurvePosition after, engine::TrialNumber last,
                                                 std::size_t most_reports) override;

 private:
  struct Impl;
  explicit SqliteStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpsearch::daemon
