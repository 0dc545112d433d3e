#include "hpsearch/engine/searcher.hpp"

#include <array>

#include "hpsearch/engine/learnt.hpp"

namespace hpsearch::engine {

namespace {

using Why = Reason::Why;

constexpr std::array<Why, 19> every_why = {
    Why::new_trial,         Why::replacement,    Why::given_point,
    Why::near_trial,        Why::before_model,   Why::explored,
    Why::model_choice,      Why::repeat,         Why::promoted,
    Why::waits_at_rung,     Why::below_cutoff,   Why::rung_closed,
    Why::worse_than_others, Why::no_improvement, Why::max_length,
    Why::early_exit,        Why::user,           Why::paused_itself,
    Why::experiment_end,
};

constexpr std::array<ExitReason, 4> every_exit_reason = {
    ExitReason::errored,
    ExitReason::user_canceled,
    ExitReason::user_stopped,
    ExitReason::invalid_hp,
};

}  // namespace

std::string_view name_of(Why why) noexcept {
  switch (why) {
    case Why::new_trial:
      return "new_trial";
    case Why::replacement:
      return "replacement";
    case Why::given_point:
      return "given_point";
    case Why::near_trial:
      return "near_trial";
    case Why::before_model:
      return "before_model";
    case Why::explored:
      return "explored";
    case Why::model_choice:
      return "model_choice";
    case Why::repeat:
      return "repeat";
    case Why::promoted:
      return "promoted";
    case Why::waits_at_rung:
      return "waits_at_rung";
    case Why::below_cutoff:
      return "below_cutoff";
    case Why::rung_closed:
      return "rung_closed";
    case Why::worse_than_others:
      return "worse_than_others";
    case Why::no_improvement:
      return "no_improvement";
    case Why::max_length:
      return "max_length";
    case Why::early_exit:
      return "early_exit";
    case Why::user:
      return "user";
    case Why::paused_itself:
      return "paused_itself";
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

std::optional<Learnt> Searcher::learnt() const {
  return std::nullopt;
}

const Finalist::Training* Finalist::best(Goal goal) const noexcept {
  const Training* best = nullptr;
  for (const Training& training : trainings) {
    if (training.metric && (best == nullptr || Score::from_metric(training.metric, goal) <
                                                   Score::from_metric(best->metric, goal))) {
      best = &training;
    }
  }
  return best;
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
