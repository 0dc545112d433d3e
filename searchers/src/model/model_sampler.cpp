#include "model_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "acquisition.hpp"
#include "axes.hpp"
#include "candidates.hpp"
#include "fit.hpp"
#include "history.hpp"
#include "importance.hpp"
#include "model/numeric/kernel.hpp"
#include "posterior.hpp"
#include "rows.hpp"
#include "warps.hpp"

namespace hpsearch::searchers::model {

using engine::Draw;
using engine::Space;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

namespace {

constexpr std::size_t most_believers = 96;
constexpr std::size_t good_trials = 8;
constexpr std::size_t usual_candidates = 150;  // The numbers of others belong to so many uniform ones.
constexpr std::size_t copies_per_width = 8;
constexpr std::size_t refined = 5;
constexpr std::size_t copies_per_refined = 15;
constexpr std::size_t most_neighbours = 3;
constexpr std::size_t compared_trials = 64;  // One of so many is expected to be the best.

double goal_score(engine::Score score) {
  return score.metric(engine::Goal::maximize).value_or(std::nan(""));
}

}  // namespace

struct ModelSampler::State {
  State(const Space& space, Units max_length, std::uint64_t seed_given, const ModelSettings& settings_given)
      : axes(space),
        settings(settings_given),
        seed(seed_given),
        full(static_cast<double>(engine::count(max_length))),
        history(axes.size()),
        plan(seed, settings.initial_results, settings.size),
        prior(prior_of(axes.features(), settings.noisy ? 1e-2 : 1e-3)),
        candidates(axes, history) {}

  Axes axes;
  ModelSettings settings;
  std::uint64_t seed;
  double full;
  History history;
  std::uint64_t earlier = 0;  // How many of the history's first trials are of earlier searches.
  RowPlan plan;
  Prior prior;

  // The following members save work; they are functions of the events.
  FitObjective objective;
  Posterior posterior;
  Candidates candidates;
  std::size_t fitted = 0;  // The fit's index.
  std::vector<double> theta;
  std::size_t chosen = 0;         // Rows were chosen among the first so many results.
  std::size_t heard = 0;          // Results that are among the rows or were passed by.
  bool usable = false;            // The rows have a factor.
  std::vector<std::size_t> rows;  // Results.
  std::vector<double> features;

  struct Asked {
    std::uint64_t version = 0;
    TrialNumber trial;
    std::vector<Units> rungs;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  std::optional<Asked> asked;
  Proposal answer;
  std::uint64_t learnt_at = 0;  // The version of the history that `last_learnt` is of.
  std::optional<engine::Learnt> last_learnt;
  Work work;

  /// How far a length is, whatever its unit: 1 at full length, and one less for every factor of 52 below.
  [[nodiscard]] double fidelity(Units length) const {
    const double trained = std::max(static_cast<double>(engine::count(length)), 1.0);
    return full > 1 ? 1 - std::log(full / trained) / std::log(52.0) : 1.0;
  }

  /// As the history numbers it.
  [[nodiscard]] TrialNumber subject(TrialNumber trial) const { return TrialNumber(earlier + trial.number()); }
  /// None for an earlier result.
  [[nodiscard]] std::optional<TrialNumber> own_trial(TrialNumber subject) const {
    return subject.number() < earlier ? std::nullopt : std::optional(TrialNumber(subject.number() - earlier));
  }

  std::span<const double> features_of(TrialNumber trial) {
    features.resize(axes.features());
    axes.features_of(history.place(trial), features);
    return features;
  }

  [[nodiscard]] Points points_of(const std::vector<std::size_t>& results) {
    Points points;
    points.features = axes.features();
    for (const std::size_t i : results) {
      const History::Result& result = history.results()[i];
      points.add(features_of(result.trial), fidelity(result.length));
    }
    return points;
  }

  [[nodiscard]] std::vector<double> targets_of(const std::vector<std::size_t>& results,
                                               const Warp& warp) const {
    std::vector<double> targets;
    for (const std::size_t i : results) {
      const double score = history.results()[i].goal_score;
      targets.push_back(std::isfinite(score) ? warp.target(score) : warp.failed());
    }
    return targets;
  }

  // Always from the same start and on what the count of results alone decides: how often, and when, somebody
  // asked before leaves no trace.
  void fit(const RowPlan::Fit& due) {
    const auto some = plan.thin(plan.choose(history, due.count), settings.fit_size, due.count);
    const Warp warp(due.index % 2 == 1 ? WarpKind::win : WarpKind::copula, history.ascending(due.count));
    const Points points = points_of(some);
    const std::vector<double> targets = targets_of(some, warp);
    objective.explain(points, targets, prior);
    theta = minimise(objective, prior.start, prior.lower, prior.upper).at;
    fitted = due.index;
    ++work.fits;
  }

  void learn() {
    const std::size_t results = history.results().size();
    const RowPlan::Fit due = plan.fit_at(results);
    const std::size_t choice = plan.chosen_at(results);
    const bool fits = fitted != due.index;
    if (fits) {
      fit(due);
    }
    if (fits || choice != chosen) {
      rows = plan.choose(history, choice);
      usable = posterior.reset(Kernel(theta), points_of(rows));
      chosen = choice;
      heard = choice;
    }
    for (; heard < results; ++heard) {
      if (usable) {
        const History::Result& result = history.results()[heard];
        posterior.append(features_of(result.trial), fidelity(result.length));
      }
      rows.push_back(heard);
    }
  }

  void believe_in_pending() {
    const auto& pending = history.pending();
    const std::size_t first = pending.size() - std::min(pending.size(), most_believers);
    for (std::size_t i = first; i < pending.size(); ++i) {
      posterior.believe(features_of(pending[i].trial), fidelity(pending[i].target));
    }
  }

  // The value that improvements are measured from.
  [[nodiscard]] double best_so_far(const std::vector<double>& targets, const Warp& warp) {
    if (!settings.noisy) {
      return history.ascending(history.results().size()).empty() ? warp.failed() : warp.best();
    }
    Points points;
    points.features = axes.features();
    std::vector<bool> seen(history.results().size() + history.pending().size() + 1, false);
    for (const std::size_t row : rows) {
      const TrialNumber trial = history.results()[row].trial;
      if (trial.number() >= seen.size()) {
        seen.resize(trial.number() + 1, false);
      }
      if (!seen[trial.number()]) {
        seen[trial.number()] = true;
        points.add(features_of(trial), 1);
      }
    }
    std::vector<double> means;
    std::vector<double> bounds;
    posterior.consider(points, means, bounds);
    return means.empty() ? *std::max_element(targets.begin(), targets.end())
                         : *std::max_element(means.begin(), means.end());
  }

  [[nodiscard]] std::size_t scaled(std::size_t count) const {
    return std::max<std::size_t>(1, count * settings.candidates / usual_candidates);
  }

  [[nodiscard]] Picks search(TrialNumber trial, double best) {
    Picks picks(best);
    candidates.clear();
    Draw uniform(seed, trial, "model.candidates");
    Draw local(seed, trial, "model.local");
    candidates.add_uniform(settings.candidates, uniform);
    for (const TrialNumber good : history.best(good_trials)) {
      for (const double width : {0.05, 0.15}) {
        candidates.add_near(history.place(good), scaled(copies_per_width), 0.5, width, local);
      }
    }
    picks.take(posterior, candidates, refined);
    for (const double width : {0.12, 0.048}) {
      candidates.clear();
      for (const Pick& pick : picks.best_first()) {
        candidates.add_near(pick.place, scaled(copies_per_refined), 0.4, width, local);
      }
      picks.take(posterior, candidates, width > 0.1 ? refined : 1);
    }
    work.solves += picks.computed();
    return picks;
  }

  void explain(Proposal& proposal, const Pick& pick, const Warp& warp) {
    if (history.ascending(history.results().size()).empty()) {
      return;  // Failures alone have no unit.
    }
    proposal.expects = true;
    // In the metric's own unit: by the warp that is linear in it.
    std::optional<Warp> linear;
    Posterior::Prediction expected = pick.expected;
    std::vector<double> at(axes.features());
    axes.features_of(pick.place, at);
    const Warp* used = &warp;
    if (warp.kind() != WarpKind::win) {
      linear.emplace(WarpKind::win, history.ascending(history.results().size()));
      used = &*linear;
      if (posterior.set_targets(targets_of(rows, *linear))) {
        expected = posterior.predict(at, 1);
      }
    }
    proposal.mean = used->score_of(expected.mean);
    proposal.deviation = used->score_width_of(std::sqrt(expected.variance));
    proposal.log_improvement = pick.score;
    std::vector<double> distances(rows.size());
    posterior.squared_distances(at, distances);
    std::vector<std::pair<double, std::uint64_t>> near;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (const auto trial = own_trial(history.results()[rows[i]].trial)) {
        near.emplace_back(distances[i], trial->number());
      }
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    for (std::size_t i = 0; i < std::min(near.size(), most_neighbours); ++i) {
      proposal.nearest.emplace_back(near[i].second);
    }
  }

  void choose_first_rung(Proposal& proposal, std::span<const Units> rungs) const {
    const Kernel kernel(theta);
    for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
      proposal.first_rung = static_cast<std::uint32_t>(rung);
      const double correlation = kernel.correlation(fidelity(rungs[rung]));
      if (rungs.size() > 1) {
        proposal.correlation = correlation;
      }
      if (correlation >= settings.min_correlation) {
        return;
      }
    }
  }

  // False when the model has nothing to say.
  bool ask_model(Proposal& proposal, TrialNumber trial, std::span<const Units> rungs) {
    learn();
    if (!usable) {
      return false;
    }
    const auto ascending = history.ascending(history.results().size());
    const WarpKind kind = Draw(seed, trial, "model.warp").unit() < 0.5 ? WarpKind::win : WarpKind::copula;
    const Warp warp(kind, ascending);
    const std::vector<double> targets = targets_of(rows, warp);
    bool found = false;
    if (posterior.set_targets(targets)) {
      believe_in_pending();
      const Picks picks = search(trial, best_so_far(targets, warp));
      if (!picks.best_first().empty()) {
        const Pick& pick = picks.best_first().front();
        proposal.hparams = axes.configuration_at(pick.place);
        proposal.choice = Choice::modelled;
        choose_first_rung(proposal, rungs);
        explain(proposal, pick, warp);
        found = true;
      }
      posterior.forget_believers();
    }
    return found;
  }

  [[nodiscard]] std::vector<engine::Learnt::Agreement> agreements() const {
    std::map<Units, std::uint64_t> results{{Units{static_cast<std::uint64_t>(full)}, 0}};
    for (const History::Result& result : history.results()) {
      ++results[result.length];
    }
    const Kernel kernel(theta);
    std::vector<engine::Learnt::Agreement> out;
    for (const auto& [length, count] : results) {
      out.push_back({length, count, kernel.correlation(fidelity(length))});
    }
    return out;
  }

  struct Favourite {
    double mean = 0;
    std::vector<double> place;
  };

  void compare_trials(std::optional<Favourite>& best) {
    const std::vector<TrialNumber> trials = history.best(compared_trials);
    Points points;
    points.features = axes.features();
    for (const TrialNumber trial : trials) {
      points.add(features_of(trial), 1);
    }
    std::vector<double> means;
    std::vector<double> bounds;
    posterior.consider(points, means, bounds);
    for (std::size_t i = 0; i < means.size(); ++i) {
      if (std::isfinite(means[i]) && (!best || means[i] > best->mean)) {
        const std::span<const double> place = history.place(trials[i]);
        best = Favourite{means[i], {place.begin(), place.end()}};
      }
    }
  }

  /// The `refined` best candidates by their means, best first.
  [[nodiscard]] std::vector<Favourite> best_candidates() {
    std::vector<double> means;
    std::vector<double> bounds;
    posterior.consider(candidates.points(), means, bounds);
    std::vector<Favourite> out;
    for (std::size_t i = 0; i < means.size(); ++i) {
      if (std::isfinite(means[i])) {
        const std::span<const double> place = candidates.place(i);
        out.push_back({means[i], {place.begin(), place.end()}});
      }
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.mean > b.mean; });
    out.resize(std::min(out.size(), refined));
    return out;
  }

  /// By the highest mean at full length among good trials and configurations like those of proposals.
  [[nodiscard]] std::optional<Favourite> favourite() {
    std::optional<Favourite> best;
    compare_trials(best);
    const TrialNumber round(history.results().size());
    Draw uniform(seed, round, "model.learnt.candidates");
    Draw local(seed, round, "model.learnt.local");
    candidates.clear();
    candidates.add_uniform(settings.candidates, uniform);
    if (best) {
      candidates.add_near(best->place, scaled(copies_per_refined), 0.5, 0.15, local);
    }
    std::vector<Favourite> good;
    const auto compare = [&] {
      good = best_candidates();
      if (!good.empty() && (!best || good.front().mean > best->mean)) {
        best = good.front();
      }
    };
    compare();
    for (const double width : {0.12, 0.048}) {
      candidates.clear();
      for (const Favourite& one : good) {
        candidates.add_near(one.place, scaled(copies_per_refined), 0.4, width, local);
      }
      if (best) {
        candidates.add_near(best->place, scaled(copies_per_refined), 0.4, width, local);
      }
      compare();
    }
    return best;
  }

  /// The first of the trials with this configuration.
  [[nodiscard]] std::optional<TrialNumber> tried(std::span<const double> place) const {
    for (std::uint64_t subject = earlier; subject < history.trials(); ++subject) {
      if (std::ranges::equal(history.place(TrialNumber(subject)), place)) {
        return own_trial(TrialNumber(subject));
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] engine::Learnt learnt(engine::Goal goal) {
    engine::Learnt out;
    out.results = history.results().size();
    out.needed = settings.initial_results;
    if (out.results < out.needed || axes.size() == 0 || history.ascending(out.results).empty()) {
      return out;
    }
    learn();
    const Warp warp(WarpKind::win, history.ascending(history.results().size()));  // Linear in the metric.
    if (!usable || !posterior.set_targets(targets_of(rows, warp))) {
      return out;
    }
    out.importance = importance_of(axes, Kernel(theta));
    out.lengths = agreements();
    if (const std::optional<Favourite> best = favourite()) {
      std::vector<double> at(axes.features());
      axes.features_of(best->place, at);
      const Posterior::Prediction expected = posterior.predict(at, 1);
      const double mean = warp.score_of(expected.mean);
      out.best = {axes.configuration_at(best->place), goal == engine::Goal::maximize ? mean : -mean,
                  warp.score_width_of(std::sqrt(expected.variance)), tried(best->place)};
    }
    return out;
  }

  [[nodiscard]] Value even_point(TrialNumber trial) const {
    std::vector<double> place(axes.size());
    first_point(seed, trial.number(), place);
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
      place[axis] = axes.snapped(axis, place[axis]);
    }
    return axes.configuration_at(place);
  }

  [[nodiscard]] Proposal propose(TrialNumber trial, std::span<const Units> rungs) {
    Proposal proposal;
    proposal.results = history.results().size();
    if (proposal.results < settings.initial_results) {
      proposal.choice = Choice::initial;
    } else if (axes.size() > 0 && Draw(seed, trial, "model.explore").unit() < settings.explore) {
      proposal.choice = Choice::explored;
    } else if (axes.size() > 0 && ask_model(proposal, trial, rungs)) {
      return proposal;
    } else {
      proposal.choice = Choice::given_up;
    }
    proposal.hparams = even_point(trial);
    return proposal;
  }
};

ModelSampler::ModelSampler(const Space& space, Units max_length, std::uint64_t seed,
                           const ModelSettings& settings)
    : state_(std::make_unique<State>(space, max_length, seed, settings)) {
}
ModelSampler::~ModelSampler() = default;

void ModelSampler::hear_prior(const Value& hparams, std::span<const Sampler::Earlier> results) {
  std::vector<double> place(state_->axes.size());
  state_->axes.place_of(hparams, place);
  state_->history.earlier(place);
  for (const Sampler::Earlier& result : results) {
    state_->history.earlier_result(result.length, goal_score(result.score));
  }
  ++state_->earlier;
}

void ModelSampler::hear_training(const Value& hparams, Units target) {
  std::vector<double> place(state_->axes.size());
  state_->axes.place_of(hparams, place);
  state_->history.created(place, state_->axes.fingerprint(place), target);
}

void ModelSampler::hear_training(TrialNumber trial, Units target) {
  state_->history.promoted(state_->subject(trial), target);
}

void ModelSampler::hear_result(TrialNumber trial, Units length, engine::Score score) {
  state_->history.result(state_->subject(trial), length, goal_score(score));
}

void ModelSampler::hear_ended(TrialNumber trial, engine::ExitReason reason) {
  const TrialNumber subject = state_->subject(trial);
  if (reason == engine::ExitReason::errored) {
    state_->history.failed(subject);
  } else if (reason == engine::ExitReason::invalid_hp) {
    state_->history.invalid(subject);
  } else {
    state_->history.gone(subject);
  }
}

const ModelSampler::Proposal& ModelSampler::propose(TrialNumber trial, std::span<const Units> rungs) const {
  State::Asked asked{state_->history.version(), trial, {rungs.begin(), rungs.end()}};
  if (state_->asked != asked) {
    state_->answer = state_->propose(trial, rungs);
    state_->asked = std::move(asked);
  }
  return state_->answer;
}

engine::Learnt ModelSampler::learnt(engine::Goal goal) const {
  State& state = *state_;
  if (!state.last_learnt || state.learnt_at != state.history.version()) {
    state.last_learnt = state.learnt(goal);
    state.learnt_at = state.history.version();
  }
  return *state.last_learnt;
}

ModelSampler::Work ModelSampler::work() const noexcept {
  Work work = state_->work;
  work.kernel_values = state_->posterior.kernel_values();
  return work;
}

}  // namespace hpsearch::searchers::model
