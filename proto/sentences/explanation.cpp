#include "hpsearch/proto/sentences/explanation.hpp"

#include <variant>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"
#include "hpsearch/proto/sentences/reason.hpp"
#include "hpsearch/proto/sentences/wait.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::sentences {
namespace {

using engine::amount;

bool is_at_client(const std::vector<engine::NowTrains::Place>& places) {
  return places.size() == 1 && places.front().worker == engine::external_worker_uid;
}

/// "worker \"a\"", or "workers \"a\", \"b\" (gone)" by rank.
std::string places_text(const std::vector<engine::NowTrains::Place>& places) {
  std::string text = places.size() == 1 ? "worker" : "workers";
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    text += (rank == 0 ? " \"" : ", \"") + places[rank].worker + (places[rank].gone ? "\" (gone)" : "\"");
  }
  return text;
}

/// One sentence for each activity of a trial.
struct NowText {
  const engine::Explanation& explanation;
  std::string_view unit;

  std::string operator()(const engine::NowTrains& now) const {
    return "attempt " + std::to_string(now.attempt.number()) +
           (is_at_client(now.places) ? " is trained by a client" : " trains on " + places_text(now.places)) +
           " and has reached " + amount(now.reached, "") + " of " + amount(now.length, unit) +
           (now.fruitless == 0 ? ""
                               : "; it is try " + std::to_string(now.fruitless + 1) + " of " +
                                     std::to_string(engine::most_fruitless_attempts) +
                                     ": the attempts before it ended without a report");
  }
  std::string operator()(const engine::NowNeedsSlots& now) const {
    return "waits for " + (now.slots == 0 ? "a worker" : counted(now.slots, "slot")) + " to train from " +
           amount(now.from, "") + " to " + amount(now.to, unit);
  }
  std::string operator()(const engine::NowAwaitsResume& now) const {
    return "waits at " + amount(now.reached, unit) + " because the experiment is paused";
  }
  std::string operator()(const engine::NowAtRung& now) const {
    return "at " + amount(now.reached, unit) +
           (now.reached == now.rung ? "" : " (its rung is at " + amount(now.rung, unit) + ")") + ": " +
           describe(explanation.reason, unit);
  }
  std::string operator()(const engine::NowEnded& now) const {
    return "has ended as " + std::string(engine::name_of(now.state)) + " at " + amount(now.reached, unit) +
           ": " + describe(explanation.reason, unit);
  }
};

/// One sentence for each possible next step of a trial.
struct NextText {
  const engine::Explanation& explanation;
  std::string_view unit;

  std::string operator()(const engine::NextNothing& /*next*/) const { return ""; }
  std::string operator()(const engine::NextDecision& next) const {
    return "the searcher decides when the trial reports " + next.metric + " at " + amount(next.length, unit);
  }
  std::string operator()(const engine::NextExit& next) const {
    const std::string text = next.directive == engine::Directive::kill
                                 ? "the attempt is being killed"
                                 : "the attempt must " + std::string(engine::name_of(next.directive));
    return text + (next.exceeds_limits ? " because the experiment exceeds its limits; it has not exited yet"
                                       : " and has not exited yet");
  }
  std::string operator()(const engine::NextExitOfLast& /*next*/) const {
    return "its last attempt has not exited yet";
  }
  std::string operator()(const engine::NextEndOfExperiment& /*next*/) const {
    return "the trial ends with its experiment, which is ending";
  }
  std::string operator()(const engine::NextResume& /*next*/) const {
    return "the trial continues when the experiment is resumed";
  }
  std::string operator()(const engine::NextStop& /*next*/) const { return "the trial is stopped"; }
  std::string operator()(const engine::NextSlots& next) const { return why_trial_waits(next.wait); }
  std::string operator()(const engine::NextPromotion& next) const {
    const std::uint64_t ahead = explanation.ahead.value_or(0);
    const std::string place = ahead == 0 ? "gets the next free slot of this experiment"
                                         : "is number " + std::to_string(ahead + 1) +
                                               " in the queue for free slots of this experiment";
    return "the trial is among the best " + std::to_string(explanation.reason.keep.value_or(0)) + " of " +
           std::to_string(explanation.reason.size.value_or(0)) + " and " + place +
           ". Waiting: " + why_trial_waits(next.wait);
  }
  std::string operator()(const engine::NextResults& next) const {
    const std::string standstill = why_experiment_waits(next.wait);
    return promotion_text(next.exhausted) +
           ". When no more results can arrive, the trial is stopped unless it is promoted" +
           (standstill.empty() ? "" : ". No results arrive now: " + standstill);
  }

 private:
  /// When the trial is promoted, or that it cannot be.
  std::string promotion_text(bool exhausted) const {
    const std::uint64_t needed = explanation.results_needed.value_or(0);
    const std::uint64_t to_come = explanation.results_to_come.value_or(0);
    const std::string more = counted(needed, "more result");
    const std::string can_arrive =
        to_come == 0 ? "no more can arrive" : "at most " + std::to_string(to_come) + " can arrive";
    if (needed <= to_come) {
      return "the trial is promoted after " + more + " at its rung " +
             (needed == 1 ? "if it ranks behind the trial, later if it ranks ahead; "
                          : "if all rank behind the trial, later if some rank ahead; ") +
             can_arrive;
    }
    return "the trial cannot be promoted at present: it needs " + more + " at its rung, and " + can_arrive +
           ". This changes if " +
           (exhausted ? "on_duplicate is set to allow (every configuration was tried)"
                      : "max_trials is raised") +
           " or if trials that rank ahead end early";
  }
};

}  // namespace

std::string now_text(const engine::Explanation& explanation, std::string_view unit) {
  return std::visit(NowText{explanation, unit}, explanation.now);
}

std::string next_text(const engine::Explanation& explanation, std::string_view unit) {
  return std::visit(NextText{explanation, unit}, explanation.next);
}

std::string finishing_text(engine::Duration at_most) {
  return "its program may finish what it does at its length, for " +
         std::to_string(at_most.in_micros() / 1'000'000) +
         " s at most (environment.finish_within); its slots are in use until it exits";
}

}  // namespace hpsearch::sentences
