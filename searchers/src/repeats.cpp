#include "hpsearch/searchers/repeats.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "finalists.hpp"
#include "halving/progress.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/learnt.hpp"
#include "hpsearch/searchers/stopping_policy.hpp"
#include "preview.hpp"

namespace hpsearch::searchers {

using engine::Cardinality;
using engine::ExperimentConfig;
using engine::Next;
using engine::Reason;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

namespace {

/// Trials are numbered in order of creation, repeats among them; the search numbers its own without gaps.
class SearchNumbers {
 public:
  void add_repeat(TrialNumber trial) { repeats_.push_back(trial.number()); }
  [[nodiscard]] bool has_repeats() const noexcept { return !repeats_.empty(); }
  [[nodiscard]] bool is_repeat(TrialNumber trial) const noexcept {
    return std::binary_search(repeats_.begin(), repeats_.end(), trial.number());
  }
  [[nodiscard]] TrialNumber in_search(TrialNumber trial) const noexcept {
    const auto next = std::lower_bound(repeats_.begin(), repeats_.end(), trial.number());
    return TrialNumber(trial.number() - static_cast<std::uint64_t>(next - repeats_.begin()));
  }
  [[nodiscard]] TrialNumber in_all(TrialNumber of_search) const noexcept {
    // Before repeat i there are as many trials of the search as its number less i.
    std::size_t least = 0;
    for (std::size_t most = repeats_.size(); least < most;) {
      const std::size_t middle = least + (most - least) / 2;
      if (repeats_[middle] - middle <= of_search.number()) {
        least = middle + 1;
      } else {
        most = middle;
      }
    }
    return TrialNumber(of_search.number() + least);
  }

 private:
  std::vector<std::uint64_t> repeats_;  // Ascending.
};

class SearchWithRepeats final : public engine::Searcher {
 public:
  /// `share` of all training is that of the search.
  SearchWithRepeats(const ExperimentConfig& config, std::unique_ptr<engine::Searcher> search, double share)
      : max_length_(config.searcher.max_length),
        repeats_(config.searcher.repeats),
        goal_(config.searcher.goal()),
        share_(share),
        search_(std::move(search)),
        finalists_(config.searcher.finalists, repeats_, goal_) {}

  [[nodiscard]] Next next() const override {
    if (is_over_ && !gave_up_) {
      if (const Finalists::Configuration* due = finalists_.due()) {
        Reason reason = because(Reason::Why::repeat);
        reason.near = due->trainings.front().trial.number();
        reason.detail = std::to_string(due->trainings.size() + 1) + " of " + std::to_string(repeats_);
        return engine::CreateTrial{TrialNumber(created_), due->hparams, max_length_, std::move(reason)};
      }
      if (open_repeats_ > 0) {
        return engine::NothingNow{};
      }
    }
    Next next = search_->next();
    if (auto* create = std::get_if<engine::CreateTrial>(&next)) {
      create->trial = numbers_.in_all(create->trial);
      create->reason = in_all(std::move(create->reason));
    } else if (auto* promote = std::get_if<engine::PromoteTrial>(&next)) {
      promote->trial = numbers_.in_all(promote->trial);
    }
    return next;
  }

  [[nodiscard]] engine::Verdict verdict(TrialNumber trial) const override {
    return numbers_.is_repeat(trial)
               ? engine::Verdict{engine::Verdict::Action::stop, Units{}, standing(trial)}
               : search_->verdict(numbers_.in_search(trial));
  }
  [[nodiscard]] std::optional<Reason> early_stop(TrialNumber trial) const override {
    return numbers_.is_repeat(trial) ? std::nullopt : search_->early_stop(numbers_.in_search(trial));
  }
  [[nodiscard]] std::span<const TrialNumber> closable() const override {
    return numbers_.has_repeats() ? std::span<const TrialNumber>(closable_) : search_->closable();
  }
  [[nodiscard]] Reason standing(TrialNumber trial) const override {
    return numbers_.is_repeat(trial) ? because(Reason::Why::max_length)
                                     : search_->standing(numbers_.in_search(trial));
  }
  [[nodiscard]] engine::Outlook outlook(TrialNumber trial) const override {
    return numbers_.is_repeat(trial) ? engine::Outlook{} : search_->outlook(numbers_.in_search(trial));
  }
  [[nodiscard]] std::string obstacle_to_retry(TrialNumber trial) const override {
    if (numbers_.is_repeat(trial)) {
      return "";
    }
    return is_over_ ? "the search is over, and its best configurations are trained again"
                    : search_->obstacle_to_retry(numbers_.in_search(trial));
  }
  [[nodiscard]] std::optional<engine::Learnt> learnt() const override {
    std::optional<engine::Learnt> learnt = search_->learnt();
    if (learnt && learnt->best && learnt->best->trial) {
      learnt->best->trial = numbers_.in_all(*learnt->best->trial);
    }
    return learnt;
  }
  [[nodiscard]] std::vector<engine::BracketStanding> brackets() const override {
    std::vector<engine::BracketStanding> brackets = search_->brackets();
    for (engine::BracketStanding& bracket : brackets) {
      for (engine::RungStanding& rung : bracket.rungs) {
        for (engine::RungResult& result : rung.results) {
          result.trial = numbers_.in_all(result.trial);
        }
        for (TrialNumber& training : rung.training) {
          training = numbers_.in_all(training);
        }
      }
    }
    return brackets;
  }
  [[nodiscard]] std::optional<std::uint32_t> bracket_of(TrialNumber trial) const override {
    return numbers_.is_repeat(trial) ? std::nullopt : search_->bracket_of(numbers_.in_search(trial));
  }
  [[nodiscard]] std::vector<engine::Finalist> finalists() const override { return finalists_.ranked(); }
  [[nodiscard]] double progress() const noexcept override { return progress_; }

  void on_event(const engine::SearchEvent& event) override {
    std::visit([this](const auto& it) { note(it); }, event);
    look_at_search();
    update_progress();
  }

 private:
  struct Open {
    Value hparams;
    bool is_repeat = false;
    bool reached = false;  // Full length; its end was not reported yet.
    Units trained{};       // How long the repeat has trained.
  };

  void note(const engine::TrialWasCreated& created) {
    HPSEARCH_CHECK(created.trial.number() == created_, "trials are numbered without gaps");
    ++created_;
    const bool is_repeat = is_over_ && finalists_.chosen();
    if (is_repeat) {
      numbers_.add_repeat(created.trial);
      finalists_.add(created.hparams, created.trial, std::nullopt);
      ++open_repeats_;
    } else {
      search_->on_event(
          engine::TrialWasCreated{numbers_.in_search(created.trial), created.hparams, created.length});
    }
    open_.emplace(created.trial, Open{created.hparams, is_repeat});
  }
  void note(const engine::TrialReported& reported) {
    const auto found = open_.find(reported.trial);
    if (found != open_.end() && found->second.is_repeat) {
      found->second.trained = std::clamp(reported.step, found->second.trained, max_length_);
    }
    tell(reported);
  }
  void note(const engine::TrialValidated& validated) {
    const auto found = open_.find(validated.trial);
    if (found != open_.end() && !found->second.reached && validated.length >= max_length_) {
      Open& open = found->second;
      open.reached = true;
      const std::optional<double> metric = validated.score.metric(goal_);
      if (open.is_repeat) {
        finalists_.set(open.hparams, validated.trial, metric);
        open.trained = max_length_;
      } else {
        finalists_.add(open.hparams, validated.trial, metric);
      }
    }
    tell(validated);
  }
  void note(const engine::TrialExited& exited) {
    const auto found = open_.find(exited.trial);
    if (found != open_.end() && found->second.reached && exited.reason == engine::ExitReason::invalid_hp) {
      if (found->second.is_repeat) {
        finalists_.set(found->second.hparams, exited.trial, std::nullopt);
      } else {
        finalists_.remove(found->second.hparams, exited.trial);
      }
    }
    end(found);
    tell(exited);
  }
  void note(const engine::TrialWasRetried& retried) {
    const bool is_repeat = numbers_.is_repeat(retried.trial);
    const bool is_new = open_.emplace(retried.trial, Open{retried.hparams, is_repeat}).second;
    open_repeats_ += is_repeat && is_new ? 1U : 0U;
    tell(retried);
  }
  void note(const engine::TrialWasClosed& closed) {
    end(open_.find(closed.trial));
    tell(closed);
  }
  void note(const engine::TrialWasPromoted& promoted) { tell(promoted); }
  void note(const engine::DuplicatesChanged& changed) {
    engine::DuplicatesChanged of_search{changed.reject, {}};
    for (std::size_t trial = 0; trial < changed.started.size(); ++trial) {
      if (!numbers_.is_repeat(TrialNumber(trial))) {
        of_search.started.push_back(changed.started[trial]);
      }
    }
    hear_or_keep(std::move(of_search), duplicates_);
  }
  void note(const engine::PointsChanged& changed) { hear_or_keep(changed, points_); }
  void note(const engine::MaxTrialsChanged& changed) {
    search_->on_event(changed);
    if (search_->progress() == 1) {
      return;
    }
    // A rule that brings more to do comes first, one that may leave nothing last.
    if (duplicates_ && !duplicates_->reject) {
      search_->on_event(*std::exchange(duplicates_, std::nullopt));
    }
    if (points_) {
      search_->on_event(*std::exchange(points_, std::nullopt));
    }
    if (duplicates_) {
      search_->on_event(*std::exchange(duplicates_, std::nullopt));
    }
  }
  void note(const engine::MaxConcurrentTrialsChanged& changed) { search_->on_event(changed); }

  /// A search that is over hears of nothing but more trials; what changes during its repeats holds for these.
  template <class Event>
  void hear_or_keep(Event changed, std::optional<Event>& kept) {
    if (is_over_) {
      kept = std::move(changed);
    } else {
      search_->on_event(changed);
    }
  }

  /// For a trial of the search.
  template <class Event>
  void tell(const Event& event) {
    if (!numbers_.is_repeat(event.trial)) {
      Event of_search = event;
      of_search.trial = numbers_.in_search(event.trial);
      search_->on_event(of_search);
    }
  }

  void end(std::map<TrialNumber, Open>::iterator trial) {
    if (trial != open_.end()) {
      open_repeats_ -= trial->second.is_repeat ? 1U : 0U;
      open_.erase(trial);
    }
  }

  void look_at_search() {
    const bool is_over = search_->progress() == 1;  // Asking next() might cost a proposal.
    if (is_over != is_over_) {
      is_over_ = is_over;
      finalists_.dismiss();
      gave_up_ = false;
      planned_ = 0;
      if (is_over) {
        const Next next = search_->next();
        const auto* finished = std::get_if<engine::Finished>(&next);
        gave_up_ = finished != nullptr && finished->problem.has_value();
        if (!gave_up_) {
          finalists_.choose();
          planned_ = finalists_.missing() + open_repeats_;
        }
      }
    }
    if (numbers_.has_repeats()) {
      closable_.clear();
      for (const TrialNumber trial : search_->closable()) {
        closable_.push_back(numbers_.in_all(trial));
      }
    }
  }

  [[nodiscard]] double trained_repeats() const noexcept {
    double trained = static_cast<double>(planned_ - std::min(planned_, finalists_.missing() + open_repeats_));
    for (auto open = open_.begin(); open_repeats_ > 0 && open != open_.end(); ++open) {
      if (open->second.is_repeat) {
        trained += static_cast<double>(engine::count(open->second.trained)) /
                   static_cast<double>(engine::count(max_length_));
      }
    }
    return trained;
  }

  void update_progress() noexcept {
    if (is_over_ && (gave_up_ || (finalists_.due() == nullptr && open_repeats_ == 0))) {
      progress_ = 1;
      return;
    }
    if (progress_ == 1) {  // It was over, and then more trials were wanted.
      progress_ = 0;
    }
    const double repeated =
        is_over_ && planned_ > 0 ? trained_repeats() / static_cast<double>(planned_) : 0.0;
    progress_ = advanced(progress_, share_ * search_->progress() + (1 - share_) * repeated);
  }

  [[nodiscard]] Reason in_all(Reason reason) const {
    if (reason.near) {
      reason.near = numbers_.in_all(TrialNumber(*reason.near)).number();
    }
    if (reason.expected) {
      for (std::uint64_t& trial : reason.expected->nearest) {
        trial = numbers_.in_all(TrialNumber(trial)).number();
      }
    }
    return reason;
  }

  Units max_length_;
  std::uint64_t repeats_;
  engine::Goal goal_;
  double share_;
  std::unique_ptr<engine::Searcher> search_;
  SearchNumbers numbers_;
  Finalists finalists_;
  std::map<TrialNumber, Open> open_;
  std::optional<engine::PointsChanged> points_;          // While the search was over.
  std::optional<engine::DuplicatesChanged> duplicates_;  // Likewise.
  std::vector<TrialNumber> closable_;                    // Where trials have other numbers in the search.
  std::uint64_t created_ = 0;
  std::uint64_t open_repeats_ = 0;
  std::uint64_t planned_ = 0;  // Repeats since the search was over.
  bool is_over_ = false;       // The search.
  bool gave_up_ = false;
  double progress_ = 0;
};

/// For as many finalists as are expected at full length.
Cardinality expected_length_of_repeats(const engine::Preview& preview,
                                       const engine::SearcherConfig& searcher) {
  Cardinality at_full_length = 0;
  for (const engine::BracketPreview& bracket : preview.brackets) {
    if (bracket.reach.size() == bracket.lengths.size()) {
      at_full_length = plus(at_full_length, bracket.reach.back());
    }
  }
  const Cardinality finalists = std::min<Cardinality>(searcher.finalists, at_full_length);
  return times(times(finalists, searcher.repeats - 1), engine::count(searcher.max_length));
}

}  // namespace

std::unique_ptr<engine::Searcher> with_repeats(const ExperimentConfig& config,
                                               std::unique_ptr<engine::Searcher> search,
                                               engine::Preview (*preview)(const ExperimentConfig& config)) {
  if (config.searcher.repeats == 1) {
    return search;
  }
  const engine::Preview planned = preview(config);
  const auto all = static_cast<double>(planned.expected_length);
  const auto repeats = static_cast<double>(expected_length_of_repeats(planned, config.searcher));
  return std::make_unique<SearchWithRepeats>(config, std::move(search), 1 - repeats / all);
}

void preview_repeats(engine::Preview& preview, const ExperimentConfig& config) {
  const engine::SearcherConfig& searcher = config.searcher;
  preview.repeats = times(std::min<Cardinality>(searcher.finalists, preview.trials), searcher.repeats - 1);
  if (preview.repeats == 0) {
    return;
  }
  const Cardinality length = times(preview.repeats, engine::count(searcher.max_length));
  Cardinality& at_full_length = preview.final_counts[searcher.max_length];
  at_full_length = plus(at_full_length, preview.repeats);
  preview.total_length = plus(preview.total_length, length);
  preview.expected_length = plus(preview.expected_length, expected_length_of_repeats(preview, searcher));
  preview.full_length = plus(preview.full_length, length);
}

}  // namespace hpsearch::searchers
