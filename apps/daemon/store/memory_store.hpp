#pragma once

#include <memory>
#include <vector>

#include "daemon/store/event_store.hpp"
#include "daemon/store/stored_record.hpp"

namespace hpsearch::daemon {

/// The content of a MemoryStore after it is closed; represents the disk.
struct MemoryDisk {
  std::uint64_t cluster = 0;
  std::uint64_t opened = 0;
  std::vector<StoredRecord> records;
};

/// An EventStore in memory, for tests: its content outlives it in the MemoryDisk.
class MemoryStore final : public EventStore {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryDisk> disk);

  [[nodiscard]] std::uint64_t cluster() const noexcept override { return disk_->cluster; }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override { return epoch_; }
  engine::Status recover(const Visit& visit) override;
  engine::Status append(std::span<const engine::Event> group) override;
  [[nodiscard]] engine::Lsn last_lsn() const noexcept override;
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
  std::shared_ptr<MemoryDisk> disk_;
  std::uint64_t epoch_;
};

}  // namespace hpsearch::daemon
