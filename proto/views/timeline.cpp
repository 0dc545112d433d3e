#include "hpsearch/proto/views/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "views/json_text.hpp"

namespace hpsearch::views {

using engine::AttemptSpan;
using engine::Instant;

namespace {

constexpr std::uint64_t usual_bins = 400;
/// Limits only slots that were never used. Every used slot is drawn.
constexpr std::size_t most_slots_drawn = 1'000;
constexpr engine::Duration usual_window = engine::Duration::seconds(24 * 3'600);

using Slot = std::pair<std::uint32_t, std::uint16_t>;  // Worker and slot.

void add_live(std::vector<AttemptSpan>& live, const engine::LiveAttempt& attempt, engine::WorkerId where,
              const std::vector<engine::SlotIndex>& slots) {
  AttemptSpan span;
  span.from = attempt.slots_since;
  span.trial = static_cast<std::uint32_t>(attempt.key.trial.number());
  span.attempt = static_cast<std::uint32_t>(attempt.key.attempt.number());
  span.worker = static_cast<std::uint32_t>(where.number());
  if (slots.empty()) {
    live.push_back(span);
  }
  for (const engine::SlotIndex slot : slots) {
    span.slot = static_cast<std::uint16_t>(std::min<std::uint64_t>(slot.number(), AttemptSpan::no_slot - 1));
    live.push_back(span);
  }
}

void add_live_attempts(std::vector<AttemptSpan>& live, const engine::ExperimentRecord& experiment) {
  for (const engine::TrialNumber number : experiment.running) {
    const engine::LiveAttempt& attempt = *experiment.trials[number.number()].live;
    if (!attempt.gang) {
      add_live(live, attempt, attempt.worker, attempt.slots);
      continue;
    }
    for (const engine::Gang::Member& member : attempt.gang->members) {
      if (!member.gone) {
        add_live(live, attempt, member.worker, member.slots);
      }
    }
  }
}

/// Whether the worker was connected at any time of the window, as far as is known.
bool was_there(const Timeline& timeline, engine::WorkerId worker, Instant from, Instant to) {
  const auto found = timeline.presences.find(static_cast<std::uint32_t>(worker.number()));
  return found == timeline.presences.end() ||
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const auto& one) { return one.from <= to && (!one.to || *one.to >= from); });
}

/// Adds to `bins` the fraction of each bin in the window that `from` … `to` covers.
void cover(std::vector<double>& bins, double from, double to, double begin, double width) {
  if (!(to > from) || !(width > 0)) {
    return;
  }
  const double end = begin + width * static_cast<double>(bins.size());
  const double first = std::max(from, begin);
  const double last = std::min(to, end);
  if (!(last > first)) {
    return;
  }
  const auto bin_at = [&](double at) {
    return std::min(bins.size() - 1, static_cast<std::size_t>((at - begin) / width));
  };
  for (std::size_t bin = bin_at(first); bin <= bin_at(last); ++bin) {
    const double left = begin + width * static_cast<double>(bin);
    bins[bin] += std::max(0.0, std::min(last, left + width) - std::max(first, left)) / width;
  }
}

class Drawing {
 public:
  Drawing(const Timeline& timeline, const TimeWindow& window) : timeline_(timeline), bins_(window.bins) {
    Instant first = timeline.now;
    for (const auto* spans : {&timeline.over, &timeline.live}) {
      for (const AttemptSpan& span : *spans) {
        first = std::min(first, span.from);
      }
    }
    from_ = window.from.value_or(timeline.begin.value_or(first));
    to_ = std::max(window.to.value_or(timeline.end), from_);
    for (const auto& [worker, count] : timeline.usable) {
      for (std::uint16_t slot = 0; slot < count; ++slot) {
        slots_.emplace(Slot{worker, slot}, slots_.size());
      }
    }
    add(timeline.over, false);
    add(timeline.live, true);
    if (bins_ == 0 && bars_.size() > most_bars) {
      bins_ = usual_bins;
    }
  }

  std::string json() {
    JsonText json;
    json.open('{').member("from", from_).member("to", to_).member("now", timeline_.now);
    put_slots(json);
    put_taken(json);
    put_presences(json);
    put_quarantines(json);
    if (bins_ == 0) {
      put_bars(json);
    } else {
      put_bins(json);
    }
    return json.close('}').take();
  }

 private:
  struct Bar {
    const AttemptSpan* span;
    bool is_live;
  };

  void add(const std::vector<AttemptSpan>& spans, bool are_live) {
    for (const AttemptSpan& span : spans) {
      if (span.from <= to_ && (are_live ? timeline_.now : span.to) >= from_) {
        bars_.push_back({&span, are_live});
        slots_.emplace(Slot{span.worker, span.slot}, slots_.size());
      }
    }
    std::size_t place = 0;  // In the order of workers and slots.
    for (auto& [slot, at] : slots_) {
      at = place++;
    }
  }
  [[nodiscard]] static double seconds(Instant at) { return static_cast<double>(at.micros()) / 1e6; }

  /// For each slot, the fraction of each of `bins` equal parts of the window in which it was held.
  [[nodiscard]] std::vector<std::vector<double>> busy(std::size_t bins) const {
    std::vector<std::vector<double>> rows(slots_.size(), std::vector<double>(bins, 0.0));
    const double width = (seconds(to_) - seconds(from_)) / static_cast<double>(bins);
    for (const Bar& bar : bars_) {
      const Instant end = bar.is_live ? timeline_.now : bar.span->to;
      cover(rows[slots_.at(Slot{bar.span->worker, bar.span->slot})], seconds(bar.span->from), seconds(end),
            seconds(from_), width);
    }
    return rows;
  }

  /// The same for other experiments.
  [[nodiscard]] std::vector<std::vector<double>> taken(std::size_t bins) const {
    std::vector<std::vector<double>> rows(slots_.size(), std::vector<double>(bins, 0.0));
    const double width = (seconds(to_) - seconds(from_)) / static_cast<double>(bins);
    for (const Timeline::Taken& one : timeline_.taken) {
      if (const auto place = slots_.find(Slot{one.worker, one.slot}); place != slots_.end()) {
        cover(rows[place->second], seconds(one.from), seconds(one.to.value_or(timeline_.now)), seconds(from_),
              width);
      }
    }
    return rows;
  }

  /// The fraction of the window in which the worker wasn't connected; 0 if that is unknown.
  [[nodiscard]] double away(std::uint32_t worker) const {
    const auto found = timeline_.presences.find(worker);
    if (found == timeline_.presences.end() || found->second.empty() || !(to_ > from_)) {
      return 0;
    }
    std::vector<double> there(1, 0.0);
    for (const WorkerTimes::Presence& one : found->second) {
      cover(there, seconds(one.from), seconds(one.to.value_or(timeline_.now)), seconds(from_),
            seconds(to_) - seconds(from_));
    }
    return std::clamp(1 - there.front(), 0.0, 1.0);
  }

  /// The average number of running trials in each of `bins` equal parts of the window. A trial with several
  /// slots counts once.
  [[nodiscard]] std::vector<double> trials(std::size_t bins) const {
    std::vector<double> row(bins, 0.0);
    const double width = (seconds(to_) - seconds(from_)) / static_cast<double>(bins);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const Bar& bar : bars_) {
      if (seen.emplace(bar.span->trial, bar.span->attempt).second) {
        cover(row, seconds(bar.span->from), seconds(bar.is_live ? timeline_.now : bar.span->to),
              seconds(from_), width);
      }
    }
    return row;
  }

  static void put_slot(JsonText& json, std::uint16_t slot) {
    json.key("slot");
    if (slot == AttemptSpan::no_slot) {
      json.null();
    } else {
      json.put(slot);
    }
  }

  void put_slots(JsonText& json) const {
    const auto shares = busy(1);
    const auto of_others = taken(1);
    json.key("slots").open('[');
    for (const auto& [slot, place] : slots_) {
      const auto name = timeline_.names.find(slot.first);
      json.open('{').member("worker", slot.first);
      json.member("name", name == timeline_.names.end() ? std::string() : name->second);
      put_slot(json, slot.second);
      json.member("busy", shares[place].front())
          .member("taken", of_others[place].front())
          .member("away", away(slot.first))
          .close('}');
    }
    json.close(']');
  }

  void put_taken(JsonText& json) const {
    json.key("taken").open('[');
    for (const Timeline::Taken& one : timeline_.taken) {
      if (one.from <= to_ && one.to.value_or(timeline_.now) >= from_) {
        json.open('{')
            .member("worker", one.worker)
            .member("slot", one.slot)
            .member("experiment", one.experiment);
        json.key("trial");
        if (one.experiment) {
          json.put(one.trial);
        } else {
          json.null();
        }
        json.member("from", one.from).member("to", one.to).close('}');
      }
    }
    json.close(']');
  }

  void put_presences(JsonText& json) const {
    json.key("presences").open('[');
    for (const auto& [worker, presences] : timeline_.presences) {
      const auto first = slots_.lower_bound(Slot{worker, 0});
      for (const WorkerTimes::Presence& one : presences) {
        if (first != slots_.end() && first->first.first == worker && one.from <= to_ &&
            (!one.to || *one.to >= from_)) {
          json.open('{').member("worker", worker).member("from", one.from).member("to", one.to).close('}');
        }
      }
    }
    json.close(']');
  }

  void put_quarantines(JsonText& json) const {
    json.key("quarantines").open('[');
    for (const auto& [worker, quarantines] : timeline_.quarantines) {
      const auto first = slots_.lower_bound(Slot{worker, 0});
      for (const engine::Quarantine& one : quarantines) {
        if (first == slots_.end() || first->first.first != worker || one.from > to_ ||
            (one.to && *one.to < from_)) {
          continue;
        }
        json.open('{').member("worker", worker).member("from", one.from).key("to");
        if (one.to) {
          json.put(*one.to);
        } else {
          json.null();
        }
        json.close('}');
      }
    }
    json.close(']');
  }

  void put_bars(JsonText& json) const {
    json.key("bars").open('[');
    for (const Bar& bar : bars_) {
      const AttemptSpan& span = *bar.span;
      json.open('{').member("worker", span.worker);
      put_slot(json, span.slot);
      json.member("trial", span.trial).member("attempt", span.attempt).member("from", span.from).key("to");
      if (bar.is_live) {
        json.null().member("outcome", "running");
      } else {
        json.put(span.to).member("outcome", engine::name_of(span.end));
      }
      json.close('}');
    }
    json.close(']');
  }

  void put_bins(JsonText& json) const {
    const auto bins = static_cast<std::size_t>(std::min(bins_, most_bins));
    const double width = (seconds(to_) - seconds(from_)) / static_cast<double>(bins);
    json.key("bins").open('{').key("edges").open('[');
    for (std::size_t edge = 0; edge <= bins; ++edge) {
      json.put(seconds(from_) + width * static_cast<double>(edge));
    }
    json.close(']').key("busy").open('[');
    for (const std::vector<double>& row : busy(bins)) {
      put_rounded(json, row);
    }
    json.close(']').key("taken").open('[');
    for (const std::vector<double>& row : taken(bins)) {
      put_rounded(json, row);
    }
    json.close(']').key("trials");
    put_rounded(json, trials(bins));
    json.close('}');
  }

  static void put_rounded(JsonText& json, const std::vector<double>& row) {
    json.open('[');
    for (const double number : row) {
      json.put(std::round(number * 1e4) / 1e4);
    }
    json.close(']');
  }

  const Timeline& timeline_;
  std::uint64_t bins_;
  Instant from_;
  Instant to_;
  std::vector<Bar> bars_;
  std::map<Slot, std::size_t> slots_;
};

/// The times in which experiments held slots of some workers in a window.
class TakenSlots {
 public:
  TakenSlots(const TimelineSources& sources, const std::map<std::uint32_t, std::uint16_t>& workers,
             Instant from, Instant to)
      : sources_(sources), workers_(workers), from_(from), to_(to) {}

  void add(const engine::ExperimentRecord& experiment) {
    if (experiment.created_at > to_ || (engine::is_ended(experiment.state) && experiment.ended_at < from_)) {
      return;
    }
    const std::optional<engine::ExperimentId> id =
        sources_.may_show(experiment) ? std::optional(experiment.id) : std::nullopt;
    const std::size_t count = experiment.spans.size();
    for (std::size_t i = 0; i < count; ++i) {
      const AttemptSpan& span = experiment.spans[count - 1 - i];  // Spans are ordered by end.
      if (span.to < from_) {
        break;
      }
      add(span, span.to, id);
    }
    std::vector<AttemptSpan> live;
    add_live_attempts(live, experiment);
    for (const AttemptSpan& span : live) {
      add(span, std::nullopt, id);
    }
  }

  /// Consecutive attempts of one experiment become one time.
  [[nodiscard]] std::vector<Timeline::Taken> take() {
    std::vector<Timeline::Taken> merged;
    const engine::Duration gap =
        std::max(engine::Duration::seconds(1), engine::Duration::micros((to_ - from_).in_micros() / 1'000));
    for (auto& [slot, taken] : slots_) {
      std::sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
      const std::size_t first = merged.size();
      for (const Timeline::Taken& one : taken) {
        Timeline::Taken* before = merged.size() > first ? &merged.back() : nullptr;
        if (before != nullptr && before->experiment == one.experiment && before->to &&
            one.from <= *before->to + gap) {
          before->to = one.to ? std::optional(std::max(*before->to, *one.to)) : std::nullopt;
          before->trial = one.trial;
        } else {
          merged.push_back(one);
        }
      }
    }
    return merged;
  }

 private:
  void add(const AttemptSpan& span, std::optional<Instant> to,
           std::optional<engine::ExperimentId> experiment) {
    if (span.slot != AttemptSpan::no_slot && span.from <= to_ && workers_.contains(span.worker)) {
      slots_[{span.worker, span.slot}].push_back(
          {span.worker, span.slot, experiment, span.trial, span.from, to});
    }
  }

  const TimelineSources& sources_;
  const std::map<std::uint32_t, std::uint16_t>& workers_;
  Instant from_;
  Instant to_;
  std::map<Slot, std::vector<Timeline::Taken>> slots_;
};

void add_worker(Timeline& timeline, const engine::WorkerRecord& worker, const TimelineSources& sources) {
  const auto number = static_cast<std::uint32_t>(worker.id.number());
  timeline.names.emplace(number, worker.name);
  if (!worker.quarantines.empty()) {
    timeline.quarantines.emplace(number, worker.quarantines);
  }
  if (const auto& presences = sources.times.of(worker.id); !presences.empty()) {
    timeline.presences.emplace(number, presences);
  }
}

/// Draws the attempts of a forgotten worker like those of others.
void add_forgotten(Timeline& timeline, engine::WorkerId id, const engine::ForgottenWorker& worker) {
  const auto number = static_cast<std::uint32_t>(id.number());
  timeline.names.emplace(number, worker.name);
  if (!worker.quarantines.empty()) {
    timeline.quarantines.emplace(number, worker.quarantines);
  }
}

std::uint16_t slots_of(const engine::WorkerRecord& worker) {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(worker.slots.total(), most_slots_drawn));
}

}  // namespace

Timeline timeline(const engine::ExperimentRecord& experiment, const TimelineSources& sources,
                  const TimeWindow& window) {
  Timeline timeline;
  timeline.now = sources.now;
  timeline.end = engine::is_ended(experiment.state) ? experiment.ended_at : sources.now;
  timeline.over.reserve(experiment.spans.size());
  for (const AttemptSpan& span : experiment.spans) {
    timeline.over.push_back(span);
  }
  add_live_attempts(timeline.live, experiment);
  const Instant from = window.from.value_or(experiment.first_lease_at);
  const Instant to = window.to.value_or(timeline.end);
  std::size_t drawn = 0;
  for (const auto& [id, worker] : sources.engine.workers()) {
    add_worker(timeline, worker, sources);
    const std::uint16_t slots = slots_of(worker);
    if (engine::is_external(worker) || !engine::serves(worker, experiment.config.resources) ||
        drawn + slots > most_slots_drawn || !was_there(timeline, worker.id, from, to)) {
      continue;
    }
    drawn += slots;
    timeline.usable.emplace(static_cast<std::uint32_t>(id.number()), slots);
  }
  for (const auto& [id, worker] : sources.engine.forgotten_workers()) {
    add_forgotten(timeline, id, worker);
  }
  TakenSlots taken(sources, timeline.usable, from, to);
  for (const auto& [id, other] : sources.engine.experiments()) {
    if (id != experiment.id) {
      taken.add(other);
    }
  }
  timeline.taken = taken.take();
  return timeline;
}

Timeline timeline(const engine::WorkerRecord& worker, const TimelineSources& sources,
                  const TimeWindow& window) {
  Timeline timeline;
  timeline.now = timeline.end = sources.now;
  add_worker(timeline, worker, sources);
  timeline.usable.emplace(static_cast<std::uint32_t>(worker.id.number()), slots_of(worker));
  const Instant to = window.to.value_or(sources.now);
  timeline.begin = sources.now + engine::Duration::micros(-usual_window.in_micros());
  if (const auto& presences = sources.times.of(worker.id); !presences.empty()) {
    timeline.begin = std::max(*timeline.begin, presences.front().from);
  }
  TakenSlots taken(sources, timeline.usable, window.from.value_or(*timeline.begin), to);
  for (const auto& [id, experiment] : sources.engine.experiments()) {
    taken.add(experiment);
  }
  timeline.taken = taken.take();
  return timeline;
}

std::string to_json(const Timeline& timeline, const TimeWindow& window) {
  return Drawing(timeline, window).json();
}

}  // namespace hpsearch::views
