#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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
#include "settings.hpp"

// The rules of halving once more, as plainly as they can be said, sorting and scanning all over again after
// every event; and both hear the same random traces.

namespace hpsearch::searchers {
namespace {

using engine::ExitReason;
using engine::Reason;
using engine::Score;
using engine::TrialNumber;
using engine::Units;
using engine::Verdict;
using Why = engine::Reason::Why;

constexpr double worst = std::numeric_limits<double>::infinity();

struct PlainResult {
  double metric = worst;
  std::size_t trial = 0;
  bool alive = true;
  bool promoted = false;
  bool closed = false;
};

struct PlainTrial {
  enum class State : std::uint8_t { training, waiting, ended };
  State state = State::training;
  std::size_t rung = 0;
  bool must_stop = false;
};

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

std::string numbers(std::uint64_t rung, std::uint64_t rank, std::uint64_t size, std::uint64_t keep,
                    std::optional<double> cutoff) {
  return " rung " + std::to_string(rung) + " rank " + std::to_string(rank) + " of " + std::to_string(size) +
         " keep " + std::to_string(keep) + " cutoff " + (cutoff ? std::to_string(*cutoff) : "none");
}

class PlainAsha {
 public:
  PlainAsha(std::size_t rungs, std::uint64_t divisor, std::size_t wanted, bool stop_once)
      : rungs_(rungs), divisor_(divisor), wanted_(wanted), stop_once_(stop_once) {}

  std::vector<PlainTrial> trials;

  void create() { trials.push_back({}); }

  void promote(std::size_t trial) {
    for (PlainResult& result : rungs_[trials[trial].rung]) {
      if (result.trial == trial) {
        result.promoted = true;
      }
    }
    ++trials[trial].rung;
    trials[trial].state = PlainTrial::State::training;
    settle();
  }

  void report(std::size_t trial, double metric) {
    PlainTrial& reporter = trials[trial];
    reporter.state = PlainTrial::State::waiting;
    rungs_[reporter.rung].push_back({metric, trial});
    reporter.must_stop = reporter.rung == top();
    verdict_ = numbers_of(trial);
    if (stop_once_ && reporter.rung < top()) {
      const std::size_t n = rungs_[reporter.rung].size();
      const std::size_t keep = std::max<std::size_t>(n / divisor_, 1);
      reporter.must_stop = rank_of(trial) >= keep;
    }
    reporter_ = trial;
    settle();
    reporter_.reset();
    if (!stop_once_) {
      verdict_ = numbers_of(trial);
    }
  }

  void exit(std::size_t trial, bool invalid) {
    PlainTrial& exited = trials[trial];
    if (invalid) {
      for (std::vector<PlainResult>& rung : rungs_) {
        std::erase_if(rung, [trial](const PlainResult& result) { return result.trial == trial; });
      }
      ++wanted_;
    } else {
      std::erase_if(rungs_[exited.rung],
                    [trial](const PlainResult& result) { return result.trial == trial; });
      rungs_[exited.rung].push_back({worst, trial, false});
    }
    exited.state = PlainTrial::State::ended;
    settle();
  }

  void close(std::size_t trial) {
    for (PlainResult& result : rungs_[trials[trial].rung]) {
      if (result.trial == trial) {
        result.closed = true;
      }
    }
    trials[trial].state = PlainTrial::State::ended;
    settle();
  }

  [[nodiscard]] std::string next() const {
    for (std::size_t rung = top(); !stop_once_ && rung-- > 0;) {
      if (const auto best = promotable(rung)) {
        return "promote " + std::to_string(*best) + numbers_of(*best);
      }
    }
    if (trials.size() < wanted_) {
      return "create";
    }
    const bool over = std::all_of(trials.begin(), trials.end(), [](const PlainTrial& trial) {
      return trial.state == PlainTrial::State::ended;
    });
    return over ? "over" : "nothing";
  }

  [[nodiscard]] std::string verdict(std::size_t trial) const {
    const PlainTrial& reporter = trials[trial];
    if (reporter.rung == top()) {
      return "stop at the top";
    }
    if (reporter.must_stop) {
      return "stop" + verdict_;
    }
    if (stop_once_) {
      return "train on" + verdict_;
    }
    const std::vector<PlainResult> order = sorted(reporter.rung);
    return (rank_of(trial) < order.size() / divisor_ ? "train on" : "pause") + verdict_;
  }

  [[nodiscard]] std::vector<std::size_t> closable() const {
    std::vector<std::size_t> named;
    for (std::size_t trial = 0; trial < trials.size(); ++trial) {
      if (trials[trial].state == PlainTrial::State::waiting && closed_[trial]) {
        named.push_back(trial);
      }
    }
    return named;
  }

 private:
  [[nodiscard]] std::size_t top() const { return rungs_.size() - 1; }

  [[nodiscard]] std::vector<PlainResult> sorted(std::size_t rung) const {
    std::vector<PlainResult> order = rungs_[rung];
    if (stop_once_) {
      std::reverse(order.begin(), order.end());  // The newcomer stands ahead of its equals.
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const PlainResult& a, const PlainResult& b) { return a.metric < b.metric; });
    return order;
  }

  [[nodiscard]] std::size_t rank_of(std::size_t trial) const {
    const std::vector<PlainResult> order = sorted(trials[trial].rung);
    return static_cast<std::size_t>(
        std::find_if(order.begin(), order.end(),
                     [trial](const PlainResult& result) { return result.trial == trial; }) -
        order.begin());
  }

  [[nodiscard]] std::string numbers_of(std::size_t trial) const {
    const std::vector<PlainResult> order = sorted(trials[trial].rung);
    std::size_t keep = order.size() / divisor_;
    if (stop_once_) {
      keep = std::max<std::size_t>(keep, 1);
    }
    std::optional<double> cutoff;
    if (keep > 0 && order[keep - 1].metric < worst) {
      cutoff = order[keep - 1].metric;
    }
    return numbers(trials[trial].rung, rank_of(trial), order.size(), keep, cutoff);
  }

  [[nodiscard]] std::optional<std::size_t> promotable(std::size_t rung) const {
    const std::vector<PlainResult> order = sorted(rung);
    for (std::size_t rank = 0; rank < order.size() / divisor_; ++rank) {
      if (order[rank].alive && !order[rank].promoted && !order[rank].closed) {
        return order[rank].trial;
      }
    }
    return std::nullopt;
  }

  void settle() {
    closed_.resize(trials.size(), false);
    if (stop_once_) {
      return;
    }
    for (std::size_t rung = 0; rung < top(); ++rung) {
      while (pass_up_one(rung)) {
      }
    }
    if (trials.size() < wanted_) {
      return;
    }
    for (std::size_t rung = 0; rung < top(); ++rung) {
      const bool comes_more = std::any_of(trials.begin(), trials.end(), [rung](const PlainTrial& trial) {
        return trial.state == PlainTrial::State::training && trial.rung <= rung;
      });
      if (comes_more || (rung > 0 && promotable(rung - 1))) {
        return;
      }
      close_out(rung);
    }
  }

  bool pass_up_one(std::size_t rung) {
    const std::vector<PlainResult> order = sorted(rung);
    for (std::size_t rank = 0; rank < order.size() / divisor_; ++rank) {
      if (!order[rank].alive && !order[rank].promoted && !order[rank].closed) {
        for (PlainResult& result : rungs_[rung]) {
          if (result.trial == order[rank].trial) {
            result.promoted = true;
          }
        }
        rungs_[rung + 1].push_back({worst, order[rank].trial, false});
        return true;
      }
    }
    return false;
  }

  void close_out(std::size_t rung) {
    const std::vector<PlainResult> order = sorted(rung);
    for (PlainResult& result : rungs_[rung]) {
      const auto place = std::find_if(order.begin(), order.end(),
                                      [&](const PlainResult& other) { return other.trial == result.trial; });
      const auto rank = static_cast<std::size_t>(place - order.begin());
      const bool is_promotable = result.alive && rank < order.size() / divisor_;
      if (result.promoted || result.closed || is_promotable) {
        continue;
      }
      result.closed = true;
      if (result.alive && result.trial == reporter_) {
        trials[result.trial].must_stop = true;
      } else if (result.alive) {
        closed_[result.trial] = true;
      }
    }
  }

  std::vector<std::vector<PlainResult>> rungs_;
  std::uint64_t divisor_;
  std::size_t wanted_;
  bool stop_once_;
  std::vector<bool> closed_;
  std::optional<std::size_t> reporter_;
  std::string verdict_;
};

std::string numbers_of(const Reason& reason) {
  return numbers(reason.rung.value(), reason.rank.value(), reason.size.value(), reason.keep.value(),
                 reason.cutoff);
}

std::string next_of(const Schedule& asha) {
  const Work work = asha.next();
  if (const auto* promoted = std::get_if<engine::PromoteTrial>(&work)) {
    return "promote " + std::to_string(promoted->trial.number()) + numbers_of(promoted->reason);
  }
  return std::holds_alternative<NewTrial>(work) ? "create"
         : std::holds_alternative<Over>(work)   ? "over"
                                                : "nothing";
}

std::string verdict_of(const Schedule& asha, std::size_t trial) {
  const Verdict verdict = asha.verdict(TrialNumber(trial));
  if (verdict.reason.why == Why::max_length) {
    return "stop at the top";
  }
  const char* actions[] = {"train on", "pause", "stop"};
  return actions[static_cast<int>(verdict.action)] + numbers_of(verdict.reason);
}

std::vector<std::size_t> closable_of(const Schedule& asha) {
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
  const auto metrics = *rc::gen::element<std::uint64_t>(1, 3, 1000);
  const auto mishaps = *rc::gen::element<std::uint64_t>(0, 10, 40);
  const auto choices = *rc::gen::scale(
      4.0, rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 1'000'000)));

  AshaSettings settings;
  for (std::size_t rung = 0; rung < rungs; ++rung) {
    settings.lengths.push_back(Units{rung + 1});
  }
  settings.divisor = Divisor(static_cast<double>(divisor));
  settings.trials = wanted;
  const std::unique_ptr<Schedule> asha = make_asha(settings, stop_once);
  PlainAsha plain(rungs, divisor, wanted, stop_once);

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
        running.push_back(plain.trials.size());
        asha->hear_created();
        plain.create();
      } else if (next.starts_with("promote ")) {
        const auto trial = static_cast<std::size_t>(std::stoul(next.substr(8)));
        running.push_back(trial);
        asha->hear_promoted(TrialNumber(trial));
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
    if (const auto canceled = waiting_trial(plain, choice); canceled && happens < mishaps / 4) {
      const bool invalid = happens % 3 == 0;
      asha->hear_exited(TrialNumber(*canceled), invalid ? ExitReason::invalid_hp : ExitReason::user_canceled);
      plain.exit(*canceled, invalid);
      agree(std::nullopt);
    } else if (happens < mishaps) {
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(turn));
      const bool invalid = happens % 3 == 0;
      asha->hear_exited(TrialNumber(trial), invalid ? ExitReason::invalid_hp : ExitReason::errored);
      plain.exit(trial, invalid);
      agree(std::nullopt);
    } else {
      const double reported = happens > 95 ? worst : metric;
      asha->hear_validated(TrialNumber(trial), Score::from_metric(reported, engine::Goal::minimize));
      plain.report(trial, reported);
      agree(trial);
      const std::string verdict = plain.verdict(trial);
      if (verdict.starts_with("train on")) {
        asha->hear_promoted(TrialNumber(trial));
        plain.promote(trial);
      } else {
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(turn));
        if (verdict.starts_with("stop")) {
          asha->hear_closed(TrialNumber(trial));
          plain.close(trial);
        }
      }
      agree(std::nullopt);
    }
    for (const std::size_t closed : plain.closable()) {
      asha->hear_closed(TrialNumber(closed));
      plain.close(closed);
    }
    agree(std::nullopt);
  }
}

RC_GTEST_PROP(AshaTwin, PromotionTypeDecidesAsThePlainRuleDoes, ()) {
  compare(false);
}

RC_GTEST_PROP(AshaTwin, StoppingTypeDecidesAsThePlainRuleDoes, ()) {
  compare(true);
}

}  // namespace
}  // namespace hpsearch::searchers
