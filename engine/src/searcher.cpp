#include "hpsearch/engine/searcher.hpp"

#include <array>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {

namespace {

using Why = Reason::Why;

constexpr std::array<Why, 11> every_why = {
    Why::new_trial,     Why::replacement,  Why::given_point,    Why::promoted,
    Why::waits_at_rung, Why::below_cutoff, Why::rung_closed,    Why::max_length,
    Why::early_exit,    Why::user,         Why::experiment_end,
};

constexpr std::array<ExitReason, 4> every_exit_reason = {
    ExitReason::errored,
    ExitReason::user_canceled,
    ExitReason::user_stopped,
    ExitReason::invalid_hp,
};

std::string_view sentence(Why why) noexcept {
  switch (why) {
    case Why::new_trial:
      return "new trial";
    case Why::replacement:
      return "in place of a trial with invalid hyperparameters";
    case Why::given_point:
      return "a given configuration";
    case Why::promoted:
      return "promoted";
    case Why::waits_at_rung:
      return "waits at its rung";
    case Why::below_cutoff:
      return "not among the best";
    case Why::rung_closed:
      return "nothing can promote it any more";
    case Why::max_length:
      return "trained to the maximum length";
    case Why::early_exit:
      return "ended early";
    case Why::user:
      return "asked for by a user";
    case Why::experiment_end:
      return "the experiment ended";
  }
  return "unknown";
}

void append_rung(std::string& text, const Reason& reason) {
  if (reason.rung) {
    text += "rung " + std::to_string(*reason.rung);
  }
  if (reason.bracket) {
    text += (reason.rung ? " of bracket " : "bracket ") + std::to_string(*reason.bracket);
  }
}

}  // namespace

std::string_view name_of(Why why) noexcept {
  switch (why) {
    case Why::new_trial:
      return "new_trial";
    case Why::replacement:
      return "replacement";
    case Why::given_point:
      return "given_point";
    case Why::promoted:
      return "promoted";
    case Why::waits_at_rung:
      return "waits_at_rung";
    case Why::below_cutoff:
      return "below_cutoff";
    case Why::rung_closed:
      return "rung_closed";
    case Why::max_length:
      return "max_length";
    case Why::early_exit:
      return "early_exit";
    case Why::user:
      return "user";
    case Why::experiment_end:
      return "experiment_end";
  }
  return "unknown";
}

std::optional<Why> why_named(std::string_view name) noexcept {
  for (const Why why : every_why) {
    if (name_of(why) == name) {
      return why;
    }
  }
  return std::nullopt;
}

std::string describe_rank(const Reason& reason) {
  std::string text;
  const bool has_place = reason.bracket || reason.rung;
  if (reason.rank) {
    text += "rank " + std::to_string(*reason.rank + 1);  // People count places from 1.
    if (reason.size) {
      text += " of " + std::to_string(*reason.size);
    }
    if (has_place) {
      text += " at ";
    }
  }
  append_rung(text, reason);
  if (reason.keep || reason.cutoff) {
    text += " (";
    if (reason.keep) {
      text += "keeps the best " + std::to_string(*reason.keep);
    }
    if (reason.cutoff) {
      text += (reason.keep ? ", cut-off " : "cut-off ") + short_number(*reason.cutoff);
    }
    text += ')';
  }
  return text;
}

std::string describe(const Reason& reason) {
  std::string text(sentence(reason.why));
  if (!reason.detail.empty()) {
    text += ": " + reason.detail;
  }
  const std::string rank = describe_rank(reason);
  if (!rank.empty()) {
    text += (rank.front() == ' ' ? "" : "; ") + rank;
  }
  return text;
}

std::string_view name_of(ExitReason reason) noexcept {
  switch (reason) {
    case ExitReason::errored:
      return "errored";
    case ExitReason::user_canceled:
      return "user_canceled";
    case ExitReason::user_stopped:
      return "user_stopped";
    case ExitReason::invalid_hp:
      return "invalid_hp";
  }
  return "unknown";
}

std::optional<ExitReason> exit_reason_named(std::string_view name) noexcept {
  for (const ExitReason reason : every_exit_reason) {
    if (name_of(reason) == name) {
      return reason;
    }
  }
  return std::nullopt;
}

const SearcherKind* find_kind(SearcherRegistry registry, std::string_view name) noexcept {
  for (const SearcherKind& kind : registry) {
    if (kind.name == name) {
      return &kind;
    }
  }
  return nullptr;
}

}  // namespace hpsearch::engine
