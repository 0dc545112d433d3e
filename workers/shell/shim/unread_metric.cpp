#include "hpsearch/workers/shell/shim/unread_metric.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "hpsearch/engine/experiment/absent_metric.hpp"
#include "hpsearch/jobs/patterns/suggested_pattern.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"
#include "hpsearch/workers/core/log_text.hpp"

namespace hpsearch::workers {
namespace {

constexpr std::size_t most_lines = 10'000;
constexpr std::size_t enough_matches = 20;
constexpr std::size_t longest_quote = 160;

}  // namespace

void UnreadMetric::hear(const ProgramMessage& message) {
  const auto* metrics = std::get_if<MetricsMessage>(&message);
  done_ = done_ || (metrics != nullptr &&
                    std::any_of(metrics->metrics.begin(), metrics->metrics.end(), [this](const auto& one) {
                      return engine::names_the_same_metric(one.first, metric_);
                    }));
}

void UnreadMetric::look_at(std::string_view line) {
  if (done_ || ++lines_ > most_lines) {
    done_ = done_ || !found_;
    return;
  }
  const std::string clean = without_escapes(line);
  if (!proto::is_utf8(clean)) {
    return;
  }
  if (pattern_) {
    matches_ += pattern_->find(clean) ? 1U : 0U;
    return;
  }
  if (auto text = patterns::suggested_pattern(clean, metric_)) {
    if (auto pattern = patterns::MetricPattern::compile(*text)) {
      pattern_.emplace(*std::move(pattern));
      found_ = UnreadMessage{.line = beginning_of(clean, longest_quote), .pattern = *std::move(text)};
      matches_ = 1;
    }
  }
}

std::optional<UnreadMessage> UnreadMetric::take_finding(bool ended) {
  if (done_ || !found_ || (!ended && matches_ < enough_matches)) {
    return std::nullopt;
  }
  done_ = true;
  return std::exchange(found_, std::nullopt);
}

}  // namespace hpsearch::workers
