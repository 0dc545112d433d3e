#include "cli/results/training_times.hpp"

#include <algorithm>
#include <string>

#include "cli/render/text.hpp"

namespace hpsearch::cli {

using engine::Value;

void TrainingTimes::on_event(const Value& event) {
  const std::string type = text_at(event, "type");
  const double at = number_at(event, "at");
  if (type == "lease_granted") {
    Trial& trial = trials_[count_at(event, "trial")];
    trial.before += trial.reported_at - trial.leased_at;
    trial.leased_at = at;
    trial.reported_at = at;
  } else if (type == "report_taken" && text_at(member(event, "report"), "type") == "metrics") {
    Trial& trial = trials_[count_at(event, "trial")];
    trial.reported_at = std::max(trial.reported_at, at);
    trial.until[count_at(member(event, "report"), "step")] =
        trial.before + trial.reported_at - trial.leased_at;
  }
}

std::optional<double> TrainingTimes::until(std::uint64_t trial, std::uint64_t step) const {
  const auto known = trials_.find(trial);
  if (known == trials_.end()) {
    return std::nullopt;
  }
  const auto found = known->second.until.find(step);
  return found == known->second.until.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace hpsearch::cli
