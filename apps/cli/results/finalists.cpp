#include "cli/results/finalists.hpp"

#include <cstdint>

#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"

namespace hpsearch::cli {

using engine::Value;

std::vector<std::string> finalist_lines(const Value::List& finalists) {
  std::vector<std::string> lines;
  for (const Value& finalist : finalists) {
    const Value::List& trainings = list_at(finalist, "trainings");
    std::uint64_t results = 0;
    for (const Value& training : trainings) {
      results += member(training, "metric").is_null() ? 0U : 1U;
    }
    std::string text = std::to_string(lines.size() + 1) + ". " + metric_or_dash(member(finalist, "mean"));
    if (const Value& deviation = member(finalist, "deviation"); !deviation.is_null()) {
      text += " ± " + metric_or_dash(deviation);
    }
    text += " (" + (results == trainings.size() ? "" : std::to_string(results) + " of ") +
            std::to_string(trainings.size()) + (trainings.size() == 1 ? " training)" : " trainings)");
    if (!trainings.empty()) {
      text += ", first trial " + std::to_string(count_at(trainings.front(), "trial"));
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace hpsearch::cli
