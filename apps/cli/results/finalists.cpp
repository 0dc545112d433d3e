#include "cli/results/finalists.hpp"

#include <cstdint>

#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"

namespace hpsearch::cli {

std::vector<std::string> finalist_lines(const std::vector<api::Finalist>& finalists) {
  std::vector<std::string> lines;
  for (const api::Finalist& finalist : finalists) {
    const std::vector<api::Training>& trainings = finalist.trainings;
    std::uint64_t results = 0;
    for (const api::Training& training : trainings) {
      results += training.metric ? 1U : 0U;
    }
    std::string text = std::to_string(lines.size() + 1) + ". " + metric_or_dash(finalist.mean);
    if (finalist.deviation) {
      text += " ± " + metric_or_dash(finalist.deviation);
    }
    text += " (" + (results == trainings.size() ? "" : std::to_string(results) + " of ") +
            std::to_string(trainings.size()) + (trainings.size() == 1 ? " training)" : " trainings)");
    if (!trainings.empty()) {
      text += ", first trial " + std::to_string(trainings.front().trial.number());
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace hpsearch::cli
