#pragma once

#include <memory>
#include <utility>

#include "daemon/store/event_store.hpp"

namespace hpsearch::simulation {

/// A store that hands everything on to another one; whoever wants to meddle overrides what they meddle with.
class PassingStore : public daemon::EventStore {
 public:
  explicit PassingStore(std::unique_ptr<daemon::EventStore> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] std::uint64_t cluster() const noexcept override { return inner_->cluster(); }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override { return inner_->daemon_epoch(); }
  engine::Status recover(const Visit& visit) override { return inner_->recover(visit); }
  engine::Status append(std::span<const engine::Event> group) override { return inner_->append(group); }
  [[nodiscard]] engine::Lsn last_lsn() const noexcept override { return inner_->last_lsn(); }
  [[nodiscard]] engine::Result<std::vector<engine::Event>> read(engine::Lsn after,
                                                                std::size_t limit) override {
    return inner_->read(after, limit);
  }
  [[nodiscard]] engine::Result<std::vector<engine::Event>> history(engine::ExperimentId experiment,
                                                                   engine::TrialNumber trial) override {
    return inner_->history(experiment, trial);
  }
  [[nodiscard]] engine::Result<std::vector<daemon::MetricPoint>> metrics(
      engine::ExperimentId experiment, engine::TrialNumber trial, daemon::MetricPosition after,
      std::size_t enough_numbers) override {
    return inner_->metrics(experiment, trial, after, enough_numbers);
  }
  [[nodiscard]] engine::Result<daemon::CurvePage> curves(engine::ExperimentId experiment,
                                                         const std::string& metric,
                                                         daemon::CurvePosition after,
                                                         engine::TrialNumber last,
                                                         std::size_t most_reports) override {
    return inner_->curves(experiment, metric, after, last, most_reports);
  }

 private:
  std::unique_ptr<daemon::EventStore> inner_;
};

}  // namespace hpsearch::simulation
