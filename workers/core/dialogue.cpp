#include "hpsearch/workers/core/dialogue.hpp"

#include <algorithm>
#include <cmath>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

using engine::MetricsReport;
using engine::Units;
using engine::Value;

bool Dialogue::repeats(const MetricsReport& report) const {
  const auto same_value = [](const auto& one, const auto& other) {
    return one.first == other.first &&
           (one.second == other.second || (std::isnan(one.second) && std::isnan(other.second)));
  };
  return !waiting_.empty() && asked_with_ && asked_with_->step == report.step &&
         std::equal(asked_with_->metrics.begin(), asked_with_->metrics.end(), report.metrics.begin(),
                    report.metrics.end(), same_value);
}

bool Dialogue::asks_about(Units length, const MetricsReport& report) {
  asked_with_ = report;
  const bool is_first = asked_at_ < length;
  if (is_first) {
    asked_at_ = length;
  }
  return is_first;
}

std::string answer_line(std::optional<engine::Directive> end_as, Units length) {
  Value::Map line;
  line["directive"] = !end_as ? "continue" : *end_as == engine::Directive::pause ? "pause" : "stop";
  line["length"] = static_cast<std::int64_t>(count(length));
  return engine::compact_json(Value(std::move(line)));
}

std::string error_line(const std::string& what) {
  Value::Map line;
  line["error"] = what;
  return engine::compact_json(Value(std::move(line)));
}

}  // namespace hpsearch::workers
