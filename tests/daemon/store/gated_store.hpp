#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/store/memory_store.hpp"

namespace hpsearch::daemon {

/// A MemoryStore whose commits a test can hold back or let fail.
class GatedStore final : public EventStore {
 public:
  explicit GatedStore(std::shared_ptr<MemoryDisk> disk) : inner_(std::move(disk)) {}

  // --- for the test's thread ---

  void hold() {
    const std::scoped_lock lock(mutex_);
    held_ = true;
  }
  void let_go() {
    {
      const std::scoped_lock lock(mutex_);
      held_ = false;
    }
    changed_.notify_all();
  }
  /// The next one after it is held again.
  void let_one_go() {
    {
      const std::scoped_lock lock(mutex_);
      ++passes_;
    }
    changed_.notify_all();
  }
  void wait_until_one_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_; });
  }
  void fail_from_now_on() { fail_with({engine::Errc::corrupt, "the disk is broken"}); }
  void fill() { fail_with({engine::Errc::unavailable, "the disk is full"}); }
  void make_room() {
    const std::scoped_lock lock(mutex_);
    failure_.reset();
  }
  [[nodiscard]] std::vector<std::size_t> group_sizes() const {
    const std::scoped_lock lock(mutex_);
    return group_sizes_;
  }

  // --- EventStore ---

  [[nodiscard]] std::uint64_t cluster() const noexcept override { return inner_.cluster(); }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override { return inner_.daemon_epoch(); }
  engine::Status recover(const Visit& visit) override { return inner_.recover(visit); }
  engine::Status append(std::span<const engine::Event> group) override {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_ || passes_ > 0; });
    passes_ -= held_ ? 1 : 0;
    waiting_ = false;
    if (failure_) {
      return *failure_;
    }
    group_sizes_.push_back(group.size());
    return inner_.append(group);
  }
  [[nodiscard]] engine::Lsn last_lsn() const noexcept override { return inner_.last_lsn(); }
  [[nodiscard]] engine::Result<std::vector<engine::Event>> read(engine::Lsn after,
                                                                std::size_t limit) override {
    return inner_.read(after, limit);
  }
  [[nodiscard]] engine::Result<std::vector<engine::Event>> history(engine::ExperimentId experiment,
                                                                   engine::TrialNumber trial) override {
    return inner_.history(experiment, trial);
  }
  [[nodiscard]] engine::Result<std::vector<MetricPoint>> metrics(engine::ExperimentId experiment,
                                                                 engine::TrialNumber trial,
                                                                 MetricPosition after,
                                                                 std::size_t enough_numbers) override {
    return inner_.metrics(experiment, trial, after, enough_numbers);
  }
  [[nodiscard]] engine::Result<CurvePage> curves(engine::ExperimentId experiment, const std::string& metric,
                                                 CurvePosition after, engine::TrialNumber last,
                                                 std::size_t most_reports) override {
    return inner_.curves(experiment, metric, after, last, most_reports);
  }

 private:
  void fail_with(engine::Error error) {
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(error);
  }

  MemoryStore inner_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int passes_ = 0;
  bool held_ = false;
  bool waiting_ = false;
  std::optional<engine::Error> failure_;
  std::vector<std::size_t> group_sizes_;
};

}  // namespace hpsearch::daemon
