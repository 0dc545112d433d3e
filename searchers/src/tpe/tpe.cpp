#include "hpsearch/searchers/tpe.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "../model/axes.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/searchers/ranked_list.hpp"
#include "parzen.hpp"

namespace hpsearch::searchers {

using engine::Draw;
using engine::ExperimentConfig;
using engine::Score;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

namespace {

constexpr std::size_t most_good = 25;
constexpr std::size_t most_others = 256;
constexpr std::size_t most_pending = 96;  // The newest.

class TpeSampler final : public Sampler {
 public:
  explicit TpeSampler(const ExperimentConfig& config)
      : space_(config.space),
        axes_(config.space),
        seed_(config.experiment_seed),
        settings_(config.searcher.tpe) {}

  [[nodiscard]] Sample sample(TrialNumber trial, std::span<const Units> /*rungs*/,
                              const Taken& taken) const override {
    const auto* compared = compared_results();
    if (compared == nullptr || axes_.size() == 0) {
      return {space_.sample(seed_, trial)};
    }
    const std::vector<std::uint64_t> good = good_of(compared->second);
    const tpe::Parzen likely(axes_, places_of(good));
    const tpe::Parzen others(axes_, places_of(others_of(compared->second, good.size(), trial)));
    Draw draw(seed_, trial, "searcher.tpe");
    std::optional<Choice> best;
    for (std::uint64_t i = 0; i < settings_.candidates; ++i) {
      tpe::Parzen::Drawn drawn = likely.draw(draw);
      const double ratio = likely.log_density(drawn.place) - others.log_density(drawn.place);
      if (best && best->is_free && ratio <= best->ratio) {
        continue;
      }
      Value hparams = axes_.configuration_at(drawn.place);
      const bool is_free = !taken || !taken(hparams);
      if (!best || is_free) {
        best = Choice{std::move(hparams), ratio, is_free, drawn.centre};
      }
    }
    Sample sample{std::move(best->hparams)};
    tell(sample.reason, *best, *compared, good);
    return sample;
  }

  void on_prior(const Value& hparams, std::span<const Earlier> results) override {
    add_place(hparams);
    for (const Earlier& result : results) {
      add_result(earlier_, result.length, result.score);
    }
    ++earlier_;
  }
  void on_created(TrialNumber trial, const Value& hparams, Units target) override {
    add_place(hparams);
    train(subject(trial), target);
  }
  void on_promoted(TrialNumber trial, Units target) override { train(subject(trial), target); }
  void on_validated(TrialNumber trial, Units length, Score score) override {
    stop(subject(trial));
    add_result(subject(trial), length, score);
  }
  void on_exited(TrialNumber trial, engine::ExitReason reason) override {
    const std::optional<Units> target = stop(subject(trial));
    if (reason == engine::ExitReason::errored && target) {
      add_result(subject(trial), *target, Score::worst());
    } else if (reason == engine::ExitReason::invalid_hp) {
      forget(subject(trial));
    }
  }
  void on_retried(TrialNumber trial, Units target) override {
    forget_failure(subject(trial), target);
    train(subject(trial), target);
  }
  void on_closed(TrialNumber trial) override { static_cast<void>(stop(subject(trial))); }

 private:
  using ByLength = std::map<Units, RankedList>;
  struct Choice {
    Value hparams;
    double ratio = 0;  // ln of that of the densities.
    bool is_free = true;
    std::optional<std::size_t> centre;  // The centre among the good ones.
  };

  /// Where what is kept by trial has this one: behind those of earlier searches.
  [[nodiscard]] std::uint64_t subject(TrialNumber trial) const { return earlier_ + trial.number(); }

  void add_place(const Value& hparams) {
    const std::size_t before = places_.size();
    places_.resize(before + axes_.size());
    axes_.place_of(hparams, std::span(places_).subspan(before));
    results_.emplace_back();
  }
  void train(std::uint64_t subject, Units target) { pending_.insert_or_assign(subject, target); }
  std::optional<Units> stop(std::uint64_t subject) {
    const auto found = pending_.find(subject);
    if (found == pending_.end()) {
      return std::nullopt;
    }
    const Units target = found->second;
    pending_.erase(found);
    return target;
  }
  void add_result(std::uint64_t subject, Units length, Score score) {
    results_[subject].push_back({length, score});
    by_length_[length].insert({score, static_cast<std::uint32_t>(subject)});
    ++heard_;
  }
  void forget(std::uint64_t subject) {
    for (const Earlier& result : results_[subject]) {
      const auto list = by_length_.find(result.length);
      list->second.erase({result.score, static_cast<std::uint32_t>(subject)});
      --heard_;
    }
    results_[subject].clear();
  }

  /// The worst result that stands for it.
  void forget_failure(std::uint64_t subject, Units target) {
    auto& results = results_[subject];
    const auto failure = std::find_if(results.begin(), results.end(), [target](const Earlier& result) {
      return result.length == target && result.score.is_worst();
    });
    if (failure != results.end()) {
      by_length_.find(target)->second.erase({failure->score, static_cast<std::uint32_t>(subject)});
      results.erase(failure);
      --heard_;
    }
  }

  /// Those at the longest length that has enough; nullptr when none has.
  [[nodiscard]] const ByLength::value_type* compared_results() const {
    if (heard_ < settings_.initial_results) {
      return nullptr;
    }
    const auto found = std::find_if(by_length_.rbegin(), by_length_.rend(), [this](const auto& entry) {
      return entry.second.size() >= axes_.size() + 3;
    });
    return found == by_length_.rend() ? nullptr : &*found;
  }
  [[nodiscard]] std::vector<std::uint64_t> good_of(const RankedList& ranked) const {
    const double share = std::ceil(settings_.gamma * static_cast<double>(ranked.size()));
    const std::size_t count = std::clamp<std::size_t>(static_cast<std::size_t>(share), 1, most_good);
    std::vector<std::uint64_t> trials;
    for (std::size_t rank = 0; rank < std::min<std::size_t>(count, ranked.size() - 1); ++rank) {
      trials.push_back(ranked.nth(rank).tie);
    }
    return trials;
  }
  [[nodiscard]] std::vector<std::uint64_t> others_of(const RankedList& ranked, std::size_t good,
                                                     TrialNumber trial) const {
    std::vector<std::uint64_t> trials;
    const std::size_t count = ranked.size() - good;
    if (count <= most_others) {
      for (std::size_t rank = good; rank < ranked.size(); ++rank) {
        trials.push_back(ranked.nth(rank).tie);
      }
    } else {
      Draw draw(seed_, trial, "searcher.tpe.others");
      std::set<std::uint64_t> ranks;
      while (ranks.size() < most_others) {
        ranks.insert(good + draw.below(count));
      }
      for (const std::uint64_t rank : ranks) {
        trials.push_back(ranked.nth(rank).tie);
      }
    }
    const std::size_t skipped = pending_.size() - std::min(pending_.size(), most_pending);
    auto next = std::next(pending_.begin(), static_cast<std::ptrdiff_t>(skipped));
    for (; next != pending_.end(); ++next) {
      trials.push_back(next->first);
    }
    return trials;
  }
  [[nodiscard]] std::vector<double> places_of(const std::vector<std::uint64_t>& trials) const {
    std::vector<double> places;
    for (const std::uint64_t trial : trials) {
      const auto first = places_.begin() + static_cast<std::ptrdiff_t>(trial * axes_.size());
      places.insert(places.end(), first, first + static_cast<std::ptrdiff_t>(axes_.size()));
    }
    return places;
  }
  void tell(engine::Reason& reason, const Choice& choice, const ByLength::value_type& compared,
            const std::vector<std::uint64_t>& good) const {
    reason.why = engine::Reason::Why::model_choice;
    reason.results = compared.second.size();
    reason.detail = "is " + engine::short_number(std::exp(choice.ratio)) +
                    " times as likely among the best " + std::to_string(good.size()) + " of " +
                    std::to_string(compared.second.size()) + " results at " +
                    std::to_string(count(compared.first)) + " as among the others";
    if (choice.centre) {
      reason.near_rank = *choice.centre;
      if (good[*choice.centre] >= earlier_) {
        reason.near = good[*choice.centre] - earlier_;
      } else {
        reason.detail += "; drawn near a result of an earlier search";
      }
    }
  }

  engine::Space space_;
  model::Axes axes_;
  std::uint64_t seed_;
  engine::TpeConfig settings_;
  std::vector<double> places_;                 // One coordinate per axis and subject.
  std::vector<std::vector<Earlier>> results_;  // By subject.
  std::map<std::uint64_t, Units> pending_;     // Those that train, and towards what.
  ByLength by_length_;
  std::uint64_t heard_ = 0;    // Results in by_length_.
  std::uint64_t earlier_ = 0;  // Configurations of earlier searches.
};

}  // namespace

std::unique_ptr<Sampler> make_tpe_sampler(const ExperimentConfig& config) {
  return std::make_unique<TpeSampler>(config);
}

}  // namespace hpsearch::searchers
