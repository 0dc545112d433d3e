#include "hpsearch/proto/sentences/reason.hpp"

#include <string_view>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/sentences/uncertain_number.hpp"

namespace hpsearch::sentences {
namespace {

using engine::Reason;
using Why = Reason::Why;

std::string_view phrase(Why why) noexcept {
  switch (why) {
    case Why::new_trial:
      return "new trial";
    case Why::replacement:
      return "replacement for a trial with invalid hyperparameters";
    case Why::given_point:
      return "from points_to_evaluate";
    case Why::near_trial:
      return "drawn near an earlier trial";
    case Why::before_model:
      return "before the model has enough results";
    case Why::explored:
      return "to explore";
    case Why::model_choice:
      return "the model's choice";
    case Why::repeat:
      return "another training of a finalist";
    case Why::promoted:
      return "promoted";
    case Why::waits_at_rung:
      return "waits at its rung";
    case Why::below_cutoff:
      return "not among the best";
    case Why::rung_closed:
      return "can no longer be promoted";
    case Why::max_length:
      return "trained to the maximum length";
    case Why::early_exit:
      return "ended early";
    case Why::user:
      return "requested by a user";
    case Why::paused_itself:
      return "the experiment paused itself";
    case Why::experiment_end:
      return "the experiment ended";
  }
  return "unknown";
}

/// "9 epochs", "9 epochs in bracket 2"
std::string rung_text(const Reason& reason, std::string_view unit) {
  std::string text = reason.at ? engine::amount(*reason.at, unit) : "";
  if (reason.bracket.value_or(0) > 0) {
    text += (text.empty() ? "bracket " : " in bracket ") + std::to_string(*reason.bracket);
  }
  return text;
}

/// " (keeps the best 4, cut-off 0.912)"
std::string cutoff_text(const Reason& reason) {
  std::string text;
  if (reason.keep) {
    text = *reason.keep == 0 ? "too few results for a promotion"
                             : "keeps the best " + std::to_string(*reason.keep);
  }
  if (reason.cutoff) {
    text += (text.empty() ? "cut-off " : ", cut-off ") + engine::short_number(*reason.cutoff);
  }
  return text.empty() ? "" : " (" + text + ")";
}

/// "drawn near trial 12 (rank 3 of 40), in windows of 25 % of each range"
std::string near_text(const Reason& reason) {
  std::string text = "drawn near trial " + std::to_string(*reason.near);
  if (reason.near_rank) {
    text += " (rank " + std::to_string(*reason.near_rank + 1);
    text += (reason.results ? " of " + std::to_string(*reason.results) : "") + ")";
  }
  if (reason.spread) {
    text += ", in windows of " + engine::short_number(100 * *reason.spread) + " % of each range";
  }
  return text;
}

/// "expects 0.931 ± 0.012 at full length; ln of the expected improvement -3.21; metrics at its first rung
/// correlate with those at full length by 0.83; nearest earlier trials 12, 7, 3"
std::string expected_text(const engine::ExpectedResult& expected) {
  std::string text = "expects " + with_deviation(expected.mean, expected.deviation) + " at full length" +
                     "; ln of the expected improvement " + fixed(expected.log_improvement, 2);
  if (expected.correlation) {
    text += "; metrics at its first rung correlate with those at full length by " +
            fixed(*expected.correlation, 2);
  }
  for (std::size_t i = 0; i < expected.nearest.size(); ++i) {
    text += i > 0                          ? ", "
            : expected.nearest.size() == 1 ? "; nearest earlier trial "
                                           : "; nearest earlier trials ";
    text += std::to_string(expected.nearest[i]);
  }
  return text;
}

}  // namespace

std::string describe_rank(const Reason& reason, std::string_view unit) {
  std::string text;
  if (reason.rank) {
    text = "rank " + std::to_string(*reason.rank + 1);  // Users count ranks from 1.
    text += reason.size ? " of " + std::to_string(*reason.size) : "";
  }
  const std::string rung = rung_text(reason, unit);
  if (!rung.empty()) {  // A trial without a rank has just begun.
    text += (!text.empty() ? " at " : reason.at ? "first rung at " : "") + rung;
  }
  text += cutoff_text(reason);
  return text;
}

std::string describe(const Reason& reason, std::string_view unit) {
  if (reason.why == Why::repeat && reason.near) {
    return "repeat " + reason.detail + " of trial " + std::to_string(*reason.near);
  }
  if (reason.why == Why::max_length && !reason.detail.empty()) {
    return reason.detail;  // It has no more to train, and is below that length.
  }
  std::string text(reason.why == Why::near_trial && reason.near ? near_text(reason)
                                                                : std::string(phrase(reason.why)));
  if (reason.why == Why::before_model && reason.results) {
    text += " (" + std::to_string(*reason.results) + " so far)";
  }
  if (reason.expected) {
    text += ": " + expected_text(*reason.expected);
  }
  if (!reason.detail.empty()) {
    text += ": " + reason.detail;
  }
  const std::string rank = describe_rank(reason, unit);
  if (!rank.empty()) {
    text += (rank.front() == ' ' ? "" : "; ") + rank;
  }
  return text;
}

}  // namespace hpsearch::sentences
