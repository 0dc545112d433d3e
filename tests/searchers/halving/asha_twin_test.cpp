#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/searchers/asha.hpp"
#include "property.hpp"
#include "searchers/halving/plain_asha.hpp"

// The schedules of halving and their plain twin hear the same random traces.

namespace hpsearch::searchers {
namespace {

using engine::ExitReason;
using engine::Reason;
using engine::Score;
using engine::TrialNumber;
using engine::Units;
using engine::Verdict;
using test::PlainAsha;
using test::PlainTrial;
using test::worst;
using Why = engine::Reason::Why;

/// What one line of the trace comes to, in words that both sides can be made to say.
struct Said {
  std::string next;
  std::string verdict;
  std::vector<std::size_t> closable;

  friend bool operator==(const Said&, const Said&) = default;
};

std::ostream& operator<<(std::ostream& out, const Said& said) {
  out << "next: " << said.next << "; verdict: " << said.verdict << "; closable:";
  for (const std::size_t trial : said.closable) {
    out << ' ' << trial;
  }
  return out;
}

std::string numbers_of(const Reason& reason) {
  return test::numbers(reason.rung.value(), reason.rank.value(), reason.size.value(), reason.keep.value(),
                       reason.cutoff);
}

std::string next_of(const StoppingPolicy& asha) {
  const Work work = asha.next();
  if (const auto* promoted = std::get_if<engine::PromoteTrial>(&work)) {
    return "promote " + std::to_string(promoted->trial.number()) + numbers_of(promoted->reason);
  }
  return std::holds_alternative<NewTrial>(work) ? "create"
         : std::holds_alternative<Over>(work)   ? "over"
                                                : "nothing";
}

std::string verdict_of(const StoppingPolicy& asha, std::size_t trial) {
  const Verdict verdict = asha.verdict(TrialNumber(trial));
  if (verdict.reason.why == Why::max_length) {
    return "stop at the top";
  }
  const char* actions[] = {"train on", "pause", "stop"};
  return actions[static_cast<int>(verdict.action)] + numbers_of(verdict.reason);
}

std::vector<std::size_t> closable_of(const StoppingPolicy& asha) {
  std::vector<std::size_t> named;
  for (const TrialNumber trial : asha.closable()) {
    named.push_back(static_cast<std::size_t>(trial.number()));
  }
  return named;
}

/// One of the trials that wait at a rung.
std::optional<std::size_t> waiting_trial(const PlainAsha& plain, std::uint64_t choice) {
  std::vector<std::size_t> waiting;
  for (std::size_t trial = 0; trial < plain.trials.size(); ++trial) {
    if (plain.trials[trial].state == PlainTrial::State::waiting) {
      waiting.push_back(trial);
    }
  }
  return waiting.empty() ? std::nullopt : std::optional(waiting[choice % waiting.size()]);
}

/// Both sides hear what `choices` makes of the course of a search, and must always agree.
void compare(bool stop_once) {
  const auto rungs = *rc::gen::inRange<std::size_t>(1, 5);
  const auto divisor = *rc::gen::inRange<std::uint64_t>(2, 5);
  const auto wanted = *rc::gen::inRange<std::size_t>(1, 40);
  const auto slots = *rc::gen::inRange<std::size_t>(1, 12);
  const auto late_starters = *rc::gen::element<std::uint64_t>(0, 0, 30, 100);  // Per cent.
  const auto metrics = *rc::gen::element<std::uint64_t>(1, 3, 1000);
  const auto failure_history = *rc::gen::element<std::uint64_t>(0, 10, 40);
  const auto choices = *rc::gen::scale(
      4.0, rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 1'000'000)));

  AshaSettings settings;
  for (std::size_t rung = 0; rung < rungs; ++rung) {
    settings.lengths.push_back(Units{rung + 1});
  }
  settings.divisor = Divisor(static_cast<double>(divisor));
  settings.trials = wanted;
  settings.late_starts = late_starters > 0;
  const std::unique_ptr<StoppingPolicy> asha = make_asha(settings, stop_once);
  PlainAsha plain(rungs, static_cast<double>(divisor), wanted, stop_once);

  std::vector<std::size_t> running;
  const auto agree = [&](std::optional<std::size_t> reporter) {
    // Before a stopping verdict is carried out there is nothing else to ask.
    const bool asks_next = !(stop_once && reporter);
    const Said said{asks_next ? next_of(*asha) : "", reporter ? verdict_of(*asha, *reporter) : "",
                    closable_of(*asha)};
    const Said expected{asks_next ? plain.next() : "", reporter ? plain.verdict(*reporter) : "",
                        plain.closable()};
    RC_ASSERT(said == expected);
  };
  for (const std::uint64_t choice : choices) {
    while (running.size() < slots) {
      const std::string next = plain.next();
      if (next == "create") {
        const std::uint64_t number = plain.trials.size();
        const bool late = (choice + 7 * number) % 100 < late_starters;
        const std::size_t first = late ? (choice + number) % rungs : 0;
        running.push_back(number);
        asha->on_created(settings.lengths[first]);
        plain.create(first);
      } else if (next.starts_with("promote ")) {
        const auto trial = static_cast<std::size_t>(std::stoul(next.substr(8)));
        running.push_back(trial);
        asha->on_promoted(TrialNumber(trial));
        plain.promote(trial);
      } else {
        break;
      }
      agree(std::nullopt);
    }
    if (running.empty()) {
      break;
    }
    const std::size_t turn = static_cast<std::size_t>(choice % running.size());
    const std::size_t trial = running[turn];
    const std::uint64_t happens = choice / 16 % 100;
    const double metric = static_cast<double>(choice / 1600 % metrics);
    if (const auto canceled = waiting_trial(plain, choice); canceled && happens < failure_history / 4) {
      const bool invalid = happens % 3 == 0;
      asha->on_exited(TrialNumber(*canceled), invalid ? ExitReason::invalid_hp : ExitReason::user_canceled);
      plain.exit(*canceled, invalid);
      agree(std::nullopt);
    } else if (happens < failure_history) {
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(turn));
      const bool invalid = happens % 3 == 0;
      asha->on_exited(TrialNumber(trial), invalid ? ExitReason::invalid_hp : ExitReason::errored);
      plain.exit(trial, invalid);
      agree(std::nullopt);
    } else {
      const double reported = happens > 95 ? worst : metric;
      asha->on_validated(TrialNumber(trial), Score::from_metric(reported, engine::Goal::minimize));
      plain.report(trial, reported);
      agree(trial);
      const std::string verdict = plain.verdict(trial);
      if (verdict.starts_with("train on")) {
        asha->on_promoted(TrialNumber(trial));
        plain.promote(trial);
      } else {
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(turn));
        if (verdict.starts_with("stop")) {
          asha->on_closed(TrialNumber(trial));
          plain.close(trial);
        }
      }
      agree(std::nullopt);
    }
    for (const std::size_t closed : plain.closable()) {
      asha->on_closed(TrialNumber(closed));
      plain.close(closed);
    }
    agree(std::nullopt);
  }
}

HPSEARCH_PROPERTY(AshaTwin, PromotionTypeDecidesAsThePlainRuleDoes) {
  compare(false);
}

HPSEARCH_PROPERTY(AshaTwin, StoppingTypeDecidesAsThePlainRuleDoes) {
  compare(true);
}

}  // namespace
}  // namespace hpsearch::searchers
