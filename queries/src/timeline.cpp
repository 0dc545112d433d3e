#include "hpsearch/queries/timeline.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "json_text.hpp"

namespace hpsearch::queries {

using engine::AttemptSpan;
using engine::Instant;

namespace {

constexpr std::uint64_t usual_bins = 400;

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

/// Share of `from` … `to` that each of the bins in the window is covered, added to `bins`.
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
    from_ = window.from.value_or(first);
    to_ = std::max(window.to.value_or(timeline.end), from_);
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

  /// For each slot, how much of each of `bins` equal parts of the window it was held.
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

  /// How many trials ran in each of `bins` equal parts of the window, on average. One with several slots is
  /// one.
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
    json.key("slots").open('[');
    for (const auto& [slot, place] : slots_) {
      const auto name = timeline_.names.find(slot.first);
      json.open('{').member("worker", slot.first);
      json.member("name", name == timeline_.names.end() ? std::string() : name->second);
      put_slot(json, slot.second);
      json.member("busy", shares[place].front()).close('}');
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
    json.close(']').key("trials");
    put_rounded(json, trials(bins));
    json.close('}');
  }

  static void put_rounded(JsonText& json, const std::vector<double>& row) {
    json.open('[');
    for (const double number : row) {
      json.put(static_cast<double>(static_cast<std::int64_t>(number * 1e4 + 0.5)) / 1e4);
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

}  // namespace

Timeline timeline(const engine::ExperimentRecord& experiment,
                  const std::map<engine::WorkerId, engine::WorkerRecord>& workers, Instant now) {
  Timeline timeline;
  timeline.now = now;
  timeline.end = engine::is_ended(experiment.state) ? experiment.ended_at : now;
  timeline.over.reserve(experiment.spans.size());
  for (const AttemptSpan& span : experiment.spans) {
    timeline.over.push_back(span);
  }
  for (const engine::TrialNumber number : experiment.running) {
    const engine::LiveAttempt& attempt = *experiment.trials[number.number()].live;
    if (!attempt.gang) {
      add_live(timeline.live, attempt, attempt.worker, attempt.slots);
      continue;
    }
    for (const engine::Gang::Member& member : attempt.gang->members) {
      if (!member.gone) {
        add_live(timeline.live, attempt, member.worker, member.slots);
      }
    }
  }
  for (const auto& [id, worker] : workers) {
    timeline.names.emplace(static_cast<std::uint32_t>(id.number()), worker.name);
    if (!worker.quarantines.empty()) {
      timeline.quarantines.emplace(static_cast<std::uint32_t>(id.number()), worker.quarantines);
    }
  }
  return timeline;
}

std::string to_json(const Timeline& timeline, const TimeWindow& window) {
  return Drawing(timeline, window).json();
}

}  // namespace hpsearch::queries
