#include "hpsearch/searchers/asha.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "halving/progress.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

using engine::Reason;
using engine::Score;
using engine::TrialNumber;
using engine::Units;
using engine::Verdict;

std::vector<Units> rung_lengths(Units max_length, const Divisor& divisor, std::uint64_t rungs) {
  HPSEARCH_CHECK(rungs > 0, "a bracket has at least one rung");
  std::vector<Units> lengths;
  for (std::uint64_t rung = 0; rung < rungs; ++rung) {
    lengths.push_back(divisor.shorten(max_length, rungs - 1 - rung));
  }
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

std::unique_ptr<StoppingPolicy> make_asha(AshaSettings settings, bool stop_once) {
  if (stop_once) {
    return std::make_unique<StoppingAsha>(std::move(settings));
  }
  return std::make_unique<PromotionAsha>(std::move(settings));
}

Asha::Asha(AshaSettings settings, Rung::Ties ties)
    : settings_(std::move(settings)),
      ties_(ties),
      quota_(settings_.trials, /*replace_invalid=*/true),
      rungs_(settings_.lengths.size(), Rung(settings_.divisor, ties)),
      outstanding_(settings_.lengths.size(), 0) {
  HPSEARCH_CHECK(!rungs_.empty() && rungs_.size() <= UINT16_MAX, "a bracket has at least one rung");
}

const Asha::Trial& Asha::trial(TrialNumber number) const {
  HPSEARCH_CHECK(number.number() < trials_.size(), "only trials that were created are spoken of");
  return trials_[number.number()];
}

Work Asha::create_or_end() const {
  if (quota_.needs_more()) {
    Reason reason = because(quota_.why_next());
    reason.rung = 0;
    reason.at = settings_.lengths.front();
    return NewTrial{settings_.lengths, std::move(reason)};
  }
  if (is_over()) {
    return Over{};
  }
  return engine::NothingNow{};
}

Reason Asha::reason(Reason::Why why, const Trial& trial) const {
  if (trial.state == State::training || trial.arrival == Rung::none) {
    return because(Reason::Why::new_trial);  // It has no rank.
  }
  const Rung& rung = rungs_[trial.rung];
  Reason reason = because(why);
  reason.rung = trial.rung;
  reason.at = settings_.lengths[trial.rung];
  reason.rank = rung.rank_of(trial.arrival);
  reason.size = rung.size();
  if (why != Reason::Why::max_length) {
    const std::uint64_t keep = rung.keep();
    reason.keep = keep;
    if (const std::optional<Score> cutoff = rung.cutoff(keep)) {
      reason.cutoff = cutoff->metric(settings_.goal);
    }
  }
  return reason;
}

Verdict Asha::reached_the_top(const Trial& trial) const {
  return Verdict{Verdict::Action::stop, Units{}, reason(Reason::Why::max_length, trial)};
}

std::vector<engine::BracketStanding> Asha::brackets() const {
  engine::BracketStanding bracket;
  bracket.stops_at_once = ties_ == Rung::Ties::later_first;
  bracket.divisor = settings_.divisor.value();
  for (std::size_t i = 0; i < rungs_.size(); ++i) {
    const Rung& rung = rungs_[i];
    engine::RungStanding standing;
    standing.length = settings_.lengths[i];
    standing.keep = i == top() || rung.size() == 0 ? 0 : keep_of(rung);
    if (const std::optional<Score> cutoff = rung.cutoff(standing.keep)) {
      standing.cutoff = cutoff->metric(settings_.goal);
    }
    for (const Rung::Arrival arrival : rung.in_order()) {
      const Rung::Result result = rung.at(arrival);
      // Rungs list theirs in the same order, but for those that left, which do not stand in it.
      standing.results.push_back({result.trial, result.score.metric(settings_.goal),
                                  static_cast<engine::RungResult::Standing>(result.standing)});
    }
    bracket.rungs.push_back(std::move(standing));
  }
  for (std::size_t number = 0; number < trials_.size(); ++number) {
    if (trials_[number].state == State::training) {
      bracket.rungs[trials_[number].rung].training.emplace_back(number);
    }
  }
  return {std::move(bracket)};
}

std::uint16_t Asha::rung_at(Units length) const noexcept {
  const std::vector<Units>& lengths = settings_.lengths;
  if (length == lengths.front()) {  // Nearly always.
    return 0;
  }
  const auto found = std::find(lengths.begin(), lengths.end(), length);
  return found == lengths.end() ? std::uint16_t{0} : static_cast<std::uint16_t>(found - lengths.begin());
}

void Asha::on_created(Units length) {
  Trial created;
  created.rung = rung_at(length);
  trials_.push_back(created);
  quota_.created();
  ++outstanding_[created.rung];
  ++outstanding_total_;
  ++open_;
}

void Asha::on_promoted(TrialNumber number) {
  HPSEARCH_CHECK(trial(number).state == State::waiting && trial(number).rung < top(),
                 "only a trial that waits below the top is promoted");
  Trial& promoted = trials_[number.number()];
  rungs_[promoted.rung].move_to(promoted.arrival, Rung::Standing::promoted);
  ++promoted.rung;
  promoted.state = State::training;
  ++outstanding_[promoted.rung];
  ++outstanding_total_;
  has_moved_on(number);
  decide_promotions(std::nullopt);
}

void Asha::on_reported(TrialNumber /*trial*/, Units /*step*/, Score /*score*/) {
}

bool Asha::on_validated(TrialNumber number, Score score) {
  if (trial(number).state != State::training) {
    return false;
  }
  stop_training(trials_[number.number()]);
  enter(number, score, /*alive=*/true);
  if (trial(number).rung == top()) {
    trials_[number.number()].state = State::ending;
    decide_promotions(std::nullopt);
  } else {
    trials_[number.number()].state = State::waiting;
    has_reported(number);
    decide_promotions(number);
  }
  update_progress();
  return true;
}

bool Asha::on_exited(TrialNumber number, engine::ExitReason reason) {
  if (trial(number).state == State::ended) {
    return false;
  }
  Trial& exited = trials_[number.number()];
  if (exited.state == State::training) {
    stop_training(exited);
  } else if (reason != engine::ExitReason::invalid_hp) {
    // It has a result where it stands: that one is replaced, so that a good one does not hold a place that a
    // living trial could take.
    Rung& rung = rungs_[exited.rung];
    rung.move_to(exited.arrival, Rung::Standing::gone);
    exited.arrival = rung.at(exited.arrival).below;
    if (exited.arrival == Rung::none) {
      has_left(exited.rung);
    }
  }
  if (reason == engine::ExitReason::invalid_hp) {
    leave_every_rung(exited);
    exited.arrival = Rung::none;
    quota_.invalid();
    reopen();
  } else {
    enter(number, Score::worst(), /*alive=*/false);
  }
  end(number);
  has_moved_on(number);
  decide_promotions(std::nullopt);
  update_progress();
  return true;
}

bool Asha::on_closed(TrialNumber number) {
  if (trial(number).state == State::ended) {
    return false;
  }
  Trial& closed = trials_[number.number()];
  if (closed.state == State::training) {
    stop_training(closed);
    closed.arrival = Rung::none;  // It has a result in the rung below, and none where it trained to.
  } else {
    rungs_[closed.rung].move_to(closed.arrival, Rung::Standing::settled);
  }
  end(number);
  has_moved_on(number);
  decide_promotions(std::nullopt);
  update_progress();
  return true;
}

std::string Asha::obstacle_to_retry(TrialNumber number) const {
  const Trial& ended = trial(number);
  if (ended.state != State::ended || ended.arrival == Rung::none ||
      !rungs_[ended.rung].at(ended.arrival).score.is_worst()) {
    return "no failure of it counts";
  }
  // Below the top, only the promotion type passes failures up or settles them.
  const bool is_open = ended.rung == top() || ties_ == Rung::Ties::later_first ||
                       rungs_[ended.rung].at(ended.arrival).standing == Rung::Standing::dead;
  return is_open ? "" : "its rung is decided, and its failure counts there";
}

/// The failure leaves its rung, as if it had never been there. Promotions that were given stay.
bool Asha::on_retried(TrialNumber number) {
  if (!obstacle_to_retry(number).empty()) {
    return false;
  }
  Trial& again = trials_[number.number()];
  Rung& rung = rungs_[again.rung];
  rung.move_to(again.arrival, Rung::Standing::gone);
  again.arrival = rung.at(again.arrival).below;
  if (again.arrival == Rung::none) {
    has_left(again.rung);
  }
  again.state = State::training;
  ++outstanding_[again.rung];
  ++outstanding_total_;
  ++open_;
  decide_promotions(std::nullopt);
  update_progress();
  return true;
}

void Asha::on_no_more_trials() {
  quota_.close();
  decide_promotions(std::nullopt);
  update_progress();
}

void Asha::on_max_trials(engine::Cardinality trials) {
  quota_.change_limit(trials);
  reopen();
  decide_promotions(std::nullopt);
  update_progress();
}

/// Into the rung it trained for; its latest result so far is the one below.
void Asha::enter(TrialNumber number, Score score, bool alive) {
  Trial& entering = trials_[number.number()];
  Rung::Standing standing = Rung::Standing::settled;
  if (entering.rung < top() && ties_ == Rung::Ties::earlier_first) {
    standing = alive ? Rung::Standing::waiting : Rung::Standing::dead;
  }
  if (entering.arrival == Rung::none && entering.rung > 0) {
    ++late_starters_;
  }
  entering.arrival = rungs_[entering.rung].enter(Rung::Result{score, number, entering.arrival, standing});
}

void Asha::leave_every_rung(const Trial& trial) {
  std::size_t rung = trial.rung;
  if (trial.state == State::training) {  // No result there yet.
    if (rung == 0) {
      return;
    }
    --rung;
  }
  for (Rung::Arrival arrival = trial.arrival; arrival != Rung::none; --rung) {
    const Rung::Arrival below = rungs_[rung].at(arrival).below;
    rungs_[rung].move_to(arrival, Rung::Standing::gone);
    arrival = below;
    if (arrival == Rung::none) {
      has_left(rung);
    }
  }
}

void Asha::has_left(std::size_t rung) noexcept {
  if (rung > 0) {
    --late_starters_;
  }
}

void Asha::stop_training(Trial& trial) {
  --outstanding_[trial.rung];
  --outstanding_total_;
}

void Asha::end(TrialNumber number) {
  if (trials_[number.number()].state == State::closable) {
    closable_.remove(number);
  }
  trials_[number.number()].state = State::ended;
  --open_;
}

void Asha::update_progress() noexcept {
  if (is_over()) {
    progress_ = 1;
    return;
  }
  if (progress_ == 1) {  // It was over, and then more trials were wanted.
    progress_ = 0;
  }
  const auto planned = static_cast<double>(quota_.planned());
  const std::uint64_t reported = rungs_.front().size() + late_starters_;
  double now = static_cast<double>(reported) / (1.2 * planned);
  if (reported == quota_.planned()) {
    now = std::max(now, static_cast<double>(quota_.counting() - open_) / planned);
  }
  progress_ = advanced(progress_, now);
}

// --- promotion type ---

Work PromotionAsha::next() const {
  for (std::size_t rung = top(); rung-- > 0;) {
    if (const std::optional<Rung::Arrival> best = rungs_[rung].promotable()) {
      const TrialNumber number = rungs_[rung].trial_of(*best);
      return engine::PromoteTrial{number, settings_.lengths[rung + 1],
                                  reason(Reason::Why::promoted, trial(number))};
    }
  }
  return create_or_end();
}

Verdict PromotionAsha::verdict(TrialNumber number) const {
  const Trial& reporter = trial(number);
  if (reporter.rung == top()) {
    return reached_the_top(reporter);
  }
  if (reporter.state == State::waiting && rungs_[reporter.rung].is_promotable(reporter.arrival)) {
    return Verdict{Verdict::Action::train_on, settings_.lengths[reporter.rung + 1],
                   reason(Reason::Why::promoted, reporter)};
  }
  return Verdict{reporter.state == State::waiting ? Verdict::Action::pause : Verdict::Action::stop, Units{},
                 standing(number)};
}

Reason PromotionAsha::standing(TrialNumber number) const {
  const Trial& waiting = trial(number);
  if (waiting.rung == top()) {
    return reason(Reason::Why::max_length, waiting);
  }
  return reason(waiting.state == State::waiting ? Reason::Why::waits_at_rung : Reason::Why::rung_closed,
                waiting);
}

engine::Outlook PromotionAsha::outlook(TrialNumber number) const {
  const Trial& waiting = trial(number);
  engine::Outlook outlook;
  if (waiting.state != State::waiting) {
    return outlook;
  }
  outlook.results_to_come =
      static_cast<std::uint64_t>(std::min<engine::Cardinality>(results_to_come(waiting.rung), UINT64_MAX));
  const Rung& its_rung = rungs_[waiting.rung];
  if (its_rung.is_promotable(waiting.arrival)) {
    outlook.ahead = its_rung.promotable_before(its_rung.rank_of(waiting.arrival));
    for (std::size_t rung = waiting.rung + std::size_t{1}; rung < top(); ++rung) {
      *outlook.ahead += rungs_[rung].promotable_before(rungs_[rung].keep());
    }
  }
  return outlook;
}

engine::Cardinality PromotionAsha::at_hand() const {
  engine::Cardinality work = quota_.rest();
  for (std::size_t rung = 0; rung < top(); ++rung) {
    work += rungs_[rung].promotable_before(rungs_[rung].keep());
  }
  return work;
}

/// The most that may come, should every result that comes to a rung below go on itself or let another go on;
/// it cannot do both, as the rung does not keep more than one more. None goes on before the rung keeps its
/// first. Trials that are still to be created may come to the rung at once where they may begin there.
engine::Cardinality PromotionAsha::results_to_come(std::size_t rung) const {
  const engine::Cardinality at_once = settings_.late_starts ? quota_.rest() : 0;
  engine::Cardinality to_come = outstanding_[0] + quota_.rest() - at_once;
  for (std::size_t below = 0; below < rung; ++below) {
    const double not_kept =
        std::ceil(settings_.divisor.value()) - 1 - static_cast<double>(rungs_[below].size());
    if (not_kept > 0) {
      to_come -=
          not_kept < static_cast<double>(to_come) ? static_cast<engine::Cardinality>(not_kept) : to_come;
    }
    to_come += rungs_[below].promotable_before(rungs_[below].keep()) + outstanding_[below + 1];
  }
  return to_come + at_once;
}

void PromotionAsha::decide_promotions(std::optional<TrialNumber> reporter) {
  pass_up_the_dead();
  if (quota_.needs_more()) {
    return;
  }
  std::vector<TrialNumber> closed;
  for (; closed_out_ < top(); ++closed_out_) {
    const bool more_may_come =
        outstanding_[closed_out_] > 0 || (closed_out_ > 0 && rungs_[closed_out_ - 1].promotable());
    if (more_may_come) {
      break;
    }
    for (const Rung::Arrival arrival : rungs_[closed_out_].close_out()) {
      const TrialNumber number = rungs_[closed_out_].trial_of(arrival);
      if (number == reporter) {
        trials_[number.number()].state = State::ending;
      } else {
        trials_[number.number()].state = State::closable;
        closed.push_back(number);
      }
    }
  }
  if (!closed.empty()) {
    closable_.add(std::move(closed));
  }
}

void PromotionAsha::pass_up_the_dead() {
  for (std::size_t rung = 0; rung < top(); ++rung) {
    while (const std::optional<Rung::Arrival> best = rungs_[rung].promotable_dead()) {
      const TrialNumber number = rungs_[rung].trial_of(*best);
      rungs_[rung].move_to(*best, Rung::Standing::promoted);
      const bool goes_higher = rung + 1 < top();
      rungs_[rung + 1].enter(
          {Score::worst(), number, *best, goes_higher ? Rung::Standing::dead : Rung::Standing::settled});
    }
  }
}

// --- stopping type ---

std::uint64_t StoppingAsha::keep_of(const Rung& rung) const {
  return std::max<std::uint64_t>(rung.keep(), 1);  // The first reporters go on.
}

void StoppingAsha::has_reported(TrialNumber number) {
  Trial& reporter = trials_[number.number()];
  const Rung& rung = rungs_[reporter.rung];
  Reason decided = reason(Reason::Why::promoted, reporter);
  const std::uint64_t keep = keep_of(rung);
  decided.keep = keep;
  decided.cutoff = rung.cutoff(keep)->metric(settings_.goal);
  if (*decided.rank >= keep) {
    decided.why = Reason::Why::below_cutoff;
    reporter.state = State::ending;
  }
  has_moved_on(number);
  const auto behind = std::find_if(decided_.begin(), decided_.end(),
                                   [number](const Decided& other) { return number < other.trial; });
  decided_.insert(behind, {number, std::move(decided)});
}

void StoppingAsha::has_moved_on(TrialNumber number) {
  const auto found = decision_on(number);
  if (found != decided_.end()) {
    decided_.erase(found);
  }
}

std::vector<StoppingAsha::Decided>::const_iterator StoppingAsha::decision_on(
    TrialNumber number) const noexcept {
  return std::find_if(decided_.begin(), decided_.end(),
                      [number](const Decided& decided) { return decided.trial == number; });
}

Work StoppingAsha::next() const {
  // A trial that may go on is promoted at once. If that was put off, it still goes before new ones.
  for (const auto& [number, decided] : decided_) {
    if (trial(number).state == State::waiting) {
      return engine::PromoteTrial{number, settings_.lengths[trial(number).rung + std::size_t{1}], decided};
    }
  }
  return create_or_end();
}

Verdict StoppingAsha::verdict(TrialNumber number) const {
  const Trial& reporter = trial(number);
  if (reporter.rung == top()) {
    return reached_the_top(reporter);
  }
  const bool goes_on = reporter.state == State::waiting;
  return Verdict{goes_on ? Verdict::Action::train_on : Verdict::Action::stop,
                 goes_on ? settings_.lengths[reporter.rung + std::size_t{1}] : Units{}, standing(number)};
}

Reason StoppingAsha::standing(TrialNumber number) const {
  const auto found = decision_on(number);
  if (found != decided_.end()) {
    return found->reason;
  }
  return reason(trial(number).rung == top() ? Reason::Why::max_length : Reason::Why::below_cutoff,
                trial(number));
}

engine::Outlook StoppingAsha::outlook(TrialNumber number) const {
  engine::Outlook outlook;
  if (trial(number).state == State::waiting) {  // It goes on for sure: no result of others changes that.
    outlook.ahead = waiting_before(decision_on(number));
  }
  return outlook;
}

engine::Cardinality StoppingAsha::at_hand() const {
  return quota_.rest() + waiting_before(decided_.end());
}

std::uint64_t StoppingAsha::waiting_before(std::vector<Decided>::const_iterator end) const {
  return static_cast<std::uint64_t>(std::count_if(decided_.begin(), end, [this](const Decided& decided) {
    return trial(decided.trial).state == State::waiting;
  }));
}

}  // namespace hpsearch::searchers
