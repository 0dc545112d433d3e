#pragma once

#include <string>
#include <utility>

#include "daemon/store/event_store.hpp"

namespace hpsearch::daemon {

/// Makes each path in an event that lies in `home`, an absolute directory, relative to it, so that the
/// directory can be moved; the second function reverts this. Paths elsewhere and addresses of object stores
/// stay unchanged.
void make_paths_relative(engine::Event& event, const std::string& home);
void make_paths_absolute(engine::Event& event, const std::string& home);

/// A store whose log has the paths in the daemon's state directory relative to it: checkpoints move with the
/// directory. Callers see absolute paths.
///
/// Threads: as the store behind it, which must outlive this.
class RelativePathStore final : public EventStore {
 public:
  RelativePathStore(EventStore& behind, std::string home) : behind_(behind), home_(std::move(home)) {}

  [[nodiscard]] std::uint64_t cluster() const noexcept override { return behind_.cluster(); }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override { return behind_.daemon_epoch(); }
  engine::Status recover(const Visit& visit) override;
  engine::Status append(std::span<const engine::Event> group) override;
  [[nodiscard]] engine::Lsn last_lsn() const noexcept override { return behind_.last_lsn(); }
  [[nodiscard]] engine::Result<std::vector<engine::Event>> read(engine::Lsn after,
                                                                std::size_t limit) override;
  [[nodiscard]] engine::Result<std::vector<engine::Event>> history(engine::ExperimentId experiment,
                                                                   engine::TrialNumber trial) override;
  [[nodiscard]] engine::Result<std::vector<MetricPoint>> metrics(engine::ExperimentId experiment,
                                                                 engine::TrialNumber trial,
                                                                 MetricPosition after,
                                                                 std::size_t enough_numbers) override {
    return behind_.metrics(experiment, trial, after, enough_numbers);
  }
  [[nodiscard]] engine::Result<CurvePage> curves(engine::ExperimentId experiment, const std::string& metric,
                                                 CurvePosition after, engine::TrialNumber last,
                                                 std::size_t most_reports) override {
    return behind_.curves(experiment, metric, after, last, most_reports);
  }

 private:
  [[nodiscard]] engine::Result<std::vector<engine::Event>> absolute(
      engine::Result<std::vector<engine::Event>> events) const;

  EventStore& behind_;
  std::string home_;
};

}  // namespace hpsearch::daemon
