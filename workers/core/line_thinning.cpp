#include "hpsearch/workers/core/line_thinning.hpp"

#include <variant>

namespace hpsearch::workers {
namespace {

constexpr std::size_t most_names = 1024;

}  // namespace

void LineThinning::decides_from(engine::Units step) {
  from_ = step;
  asked_.clear();
}

bool LineThinning::spares(const ProgramMessage& message) {
  const auto* metrics = std::get_if<MetricsMessage>(&message);
  return metrics != nullptr && from_ != engine::Units{} && spares_metrics(*metrics);
}

bool LineThinning::spares_metrics(const MetricsMessage& said) {
  if (said.step < from_) {
    return true;
  }
  bool known = true;
  for (const auto& [name, value] : said.metrics) {
    const bool fits = asked_.size() < most_names;
    known = known && (asked_.contains(name) || !fits);
    if (fits) {
      asked_.insert(name);
    }
  }
  return known;
}

}  // namespace hpsearch::workers
