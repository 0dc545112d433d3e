#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hpsearch::searchers::test {

inline constexpr double worst = std::numeric_limits<double>::infinity();

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

/// The numbers of a reason in words that both sides can be made to say.
inline std::string numbers(std::uint64_t rung, std::uint64_t rank, std::uint64_t size, std::uint64_t keep,
                           std::optional<double> cutoff) {
  return " rung " + std::to_string(rung) + " rank " + std::to_string(rank) + " of " + std::to_string(size) +
         " keep " + std::to_string(keep) + " cutoff " + (cutoff ? std::to_string(*cutoff) : "none");
}

/// The rules of halving once more, as plainly as they can be said, sorting and scanning all over again after
/// every event. Smaller metrics are better.
class PlainAsha {
 public:
  PlainAsha(std::size_t rungs, double divisor, std::size_t wanted, bool stop_once)
      : rungs_(rungs), divisor_(divisor), wanted_(wanted), stop_once_(stop_once) {}

  std::vector<PlainTrial> trials;

  /// It begins at this rung.
  void create(std::size_t rung = 0) {
    trials.push_back({});
    trials.back().rung = rung;
  }

  /// There are no further configurations.
  void no_more() {
    wanted_ = trials.size();
    is_closed_ = true;
    settle();
  }

  /// There are some again; want() follows.
  void more() { is_closed_ = false; }

  [[nodiscard]] std::size_t counting() const { return trials.size() - invalid_; }

  /// So many trials that are not invalid are wanted from now on.
  void want(std::size_t trials_in_all) {
    if (!is_closed_) {
      wanted_ = trials_in_all + invalid_;
    }
    out_ = 0;
    settle();
  }

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
      const std::size_t keep = std::max<std::size_t>(part_of(n), 1);
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
      ++invalid_;
      out_ = 0;
      if (!is_closed_) {
        ++wanted_;
      }
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
    return (rank_of(trial) < part_of(order.size()) ? "train on" : "pause") + verdict_;
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

  /// For the trial's latest result, as they are now; at the top there is nothing to keep.
  [[nodiscard]] std::string numbers_of(std::size_t trial) const {
    const std::vector<PlainResult> order = sorted(trials[trial].rung);
    std::size_t keep = part_of(order.size());
    if (stop_once_) {
      keep = std::max<std::size_t>(keep, 1);
    }
    if (trials[trial].rung == top()) {
      keep = 0;
    }
    std::optional<double> cutoff;
    if (keep > 0 && order[keep - 1].metric < worst) {
      cutoff = order[keep - 1].metric;
    }
    return numbers(trials[trial].rung, rank_of(trial), order.size(), keep, cutoff);
  }

 private:
  [[nodiscard]] std::size_t top() const { return rungs_.size() - 1; }

  /// floor(n / d)
  [[nodiscard]] std::size_t part_of(std::size_t n) const {
    return static_cast<std::size_t>(static_cast<double>(n) / divisor_);
  }

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

  [[nodiscard]] std::optional<std::size_t> promotable(std::size_t rung) const {
    const std::vector<PlainResult> order = sorted(rung);
    for (std::size_t rank = 0; rank < part_of(order.size()); ++rank) {
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
    for (; out_ < top(); ++out_) {
      const bool comes_more = std::any_of(trials.begin(), trials.end(), [this](const PlainTrial& trial) {
        return trial.state == PlainTrial::State::training && trial.rung <= out_;
      });
      if (comes_more || (out_ > 0 && promotable(out_ - 1))) {
        return;
      }
      close_out(out_);
    }
  }

  bool pass_up_one(std::size_t rung) {
    const std::vector<PlainResult> order = sorted(rung);
    for (std::size_t rank = 0; rank < part_of(order.size()); ++rank) {
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
      const bool is_promotable = result.alive && rank < part_of(order.size());
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
  double divisor_;
  std::size_t wanted_;
  bool stop_once_;
  bool is_closed_ = false;
  std::size_t invalid_ = 0;
  std::size_t out_ =
      0;  // Rungs below are closed out, which is done once; again only when results left or more are wanted.
  std::vector<bool> closed_;
  std::optional<std::size_t> reporter_;
  std::string verdict_;
};

}  // namespace hpsearch::searchers::test
