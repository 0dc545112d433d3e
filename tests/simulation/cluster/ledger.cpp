#include "simulation/cluster/ledger.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <variant>

namespace hpsearch::simulation {
namespace {

using engine::AttemptKey;
using engine::ExitReport;

bool same_number(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

std::string spelled(bool by_signal, int code) {
  return (by_signal ? "signal " : "status ") + std::to_string(code);
}

}  // namespace

void Ledger::measured(const AttemptKey& origin, engine::Units step, double score) {
  attempts_[origin].values.emplace_back(step, score);
}

void Ledger::forgot_behind(const AttemptKey& origin, std::uint64_t values) {
  auto& measured = attempts_[origin].values;
  measured.erase(
      measured.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(values, measured.size())),
      measured.end());
}

void Ledger::reported_invalid(const AttemptKey& origin) {
  attempts_[origin].invalid = true;
}

void Ledger::saved(const AttemptKey& origin, const engine::CheckpointReport& checkpoint) {
  attempts_[origin].checkpoints.emplace(checkpoint.step, checkpoint.path);
}

void Ledger::ended(const AttemptKey& origin, const std::string& uid, bool by_signal, int code) {
  attempts_[origin].ends[uid] = {by_signal, code};
}

bool Ledger::has_reported_invalid(const AttemptKey& origin) const {
  const auto found = attempts_.find(origin);
  return found != attempts_.end() && found->second.invalid;
}

std::string Ledger::compare(const AttemptKey& origin, const std::string& uid, const engine::Report& report) {
  Attempt& attempt = attempts_[origin];
  if (const auto* metrics = std::get_if<engine::MetricsReport>(&report)) {
    if (attempt.compared >= attempt.values.size()) {
      return "has more values in the log than its program said";
    }
    const auto& [step, score] = attempt.values[attempt.compared++];
    if (metrics->step != step || metrics->metrics.size() != 1 ||
        !same_number(metrics->metrics[0].second, score)) {
      return "has in the log as value " + std::to_string(attempt.compared) + " what its program did not say";
    }
  } else if (const auto* checkpoint = std::get_if<engine::CheckpointReport>(&report)) {
    if (!attempt.checkpoints.contains({checkpoint->step, checkpoint->path})) {
      return "has a checkpoint in the log that was never saved: " + checkpoint->path;
    }
  } else if (std::holds_alternative<engine::InvalidHparamsReport>(report)) {
    return attempt.invalid ? "" : "has invalid hyperparameters in the log, and its program did not say so";
  } else if (const auto* exit = std::get_if<ExitReport>(&report)) {
    if (attempt.compared != attempt.values.size()) {
      return "measured " + std::to_string(attempt.values.size()) + " values, and " +
             std::to_string(attempt.compared) + " are in the log";
    }
    return compare_end(origin, uid, *exit);
  }
  return "";
}

std::string Ledger::compare_end(const AttemptKey& origin, const std::string& uid,
                                const ExitReport& exit) const {
  const bool by_signal = exit.cause == ExitReport::Cause::signaled;
  if (!by_signal && exit.cause != ExitReport::Cause::exited) {
    return "";  // For a reason of its worker's.
  }
  const auto attempt = attempts_.find(origin);
  const bool known = attempt != attempts_.end() && attempt->second.ends.contains(uid);
  if (!known) {
    return "ended with " + spelled(by_signal, exit.code) + ", says the log, and its program did not end";
  }
  const End& end = attempt->second.ends.at(uid);
  if (end.by_signal != by_signal || end.code != exit.code) {
    return "ended with " + spelled(end.by_signal, end.code) + ", and the log says " +
           spelled(by_signal, exit.code);
  }
  return "";
}

}  // namespace hpsearch::simulation
