#include "hpsearch/proto/views/curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <variant>

#include "hpsearch/proto/views/trial_fields.hpp"
#include "views/json_text.hpp"

namespace hpsearch::views {

using engine::ExperimentRecord;
using engine::TrialNumber;
using engine::TrialState;
using engine::Units;

namespace {

constexpr std::size_t best_shown = 20;

double whole(Units units) {
  return static_cast<double>(engine::count(units));
}

std::string_view spelled(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// The values of one part of a curve, summarized.
struct Part {
  Units step{};
  engine::Instant at;
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  double last = 0;
};

std::vector<Part> parts_of(const std::vector<CurveValue>& values, std::size_t most) {
  std::vector<Part> parts;
  if (values.empty()) {
    return parts;
  }
  const double first = whole(values.front().step);
  const double width = (whole(values.back().step) - first + 1) / static_cast<double>(most);
  std::size_t present = 0;
  for (const CurveValue& value : values) {
    if (!std::isfinite(value.value)) {
      continue;
    }
    const std::size_t bin =
        values.size() <= most ? parts.size() : static_cast<std::size_t>((whole(value.step) - first) / width);
    if (parts.empty() || bin != present || values.size() <= most) {
      parts.emplace_back();
      present = bin;
    }
    Part& part = parts.back();
    part.step = value.step;
    part.at = value.at;
    part.last = value.value;
    part.least = std::min(part.least, value.value);
    part.greatest = std::max(part.greatest, value.value);
  }
  return parts;
}

template <class Get>
void put_list(JsonText& json, std::string_view name, const std::vector<Part>& parts, Get get) {
  json.key(name).open('[');
  for (const Part& part : parts) {
    json.put(get(part));
  }
  json.close(']');
}

void put_curve(JsonText& json, const Curve& curve, std::size_t points) {
  const std::vector<CurveValue> values = joined(curve.values);
  const std::vector<Part> parts = parts_of(values, points);
  json.open('{').member("trial", curve.trial).key("rung");
  if (std::isnan(curve.rung)) {
    json.null();
  } else {
    json.put(static_cast<std::uint64_t>(curve.rung));
  }
  json.member("state", engine::name_of(curve.state));
  put_list(json, "step", parts, [](const Part& part) { return part.step; });
  put_list(json, "time", parts, [](const Part& part) { return part.at; });
  put_list(json, "min", parts, [](const Part& part) { return part.least; });
  put_list(json, "max", parts, [](const Part& part) { return part.greatest; });
  put_list(json, "last", parts, [](const Part& part) { return part.last; });
  json.key("nonfinite").open('[');
  std::size_t listed = 0;
  for (const CurveValue& value : values) {
    if (!std::isfinite(value.value) && listed++ < points) {
      json.open('[').put(value.step).put(spelled(value.value)).close(']');
    }
  }
  json.close(']').key("events").open('[');
  for (const Curve::Event& event : curve.events) {
    json.open('{').member("step", event.step).member("time", event.at).member("what", event.what).close('}');
  }
  json.close(']').close('}');
}

}  // namespace

std::vector<TrialNumber> shown_trials(const ExperimentRecord& experiment, std::size_t count) {
  const std::vector<engine::TrialTally::Rung> lengths = experiment.tally.rungs();
  const double sign = experiment.config.searcher.smaller_is_better ? 1 : -1;
  std::vector<std::pair<double, std::size_t>> ranked;
  std::map<double, std::vector<std::size_t>> by_rung;
  std::vector<bool> chosen(experiment.trials.size(), false);
  std::vector<TrialNumber> shown;
  const auto choose = [&](std::size_t trial) {
    if (!chosen[trial] && shown.size() < most_curves) {
      chosen[trial] = true;
      shown.emplace_back(trial);
    }
  };
  for (std::size_t i = 0; i < experiment.trials.size(); ++i) {
    const engine::TrialRecord& trial = experiment.trials[i];
    if (trial.best) {
      ranked.emplace_back(sign * trial.best->metric, i);
    }
    if (trial.latest) {
      const double rung = rung_reached(lengths, whole(trial.reached));
      by_rung[std::isnan(rung) ? -1 : rung].push_back(i);
    }
  }
  const std::size_t best = std::min({ranked.size(), best_shown, count});
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(best), ranked.end());
  for (std::size_t i = 0; i < best; ++i) {
    choose(ranked[i].second);
  }
  for (const TrialNumber trial : experiment.running) {
    choose(static_cast<std::size_t>(trial.number()));
  }
  // Takes turns between the rungs, and chooses trials from all over each rung.
  for (std::size_t turn = 0; shown.size() < count && turn < count; ++turn) {
    for (const auto& [rung, trials] : by_rung) {
      if (shown.size() < count && turn < trials.size()) {
        choose(trials[(turn * 7'919) % trials.size()]);
      }
    }
  }
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::vector<CurveValue> joined(std::vector<CurveValue> values) {
  const auto in_order = [](const CurveValue& a, const CurveValue& b) { return a.step < b.step; };
  if (!std::is_sorted(values.begin(), values.end(), in_order)) {
    std::stable_sort(values.begin(), values.end(), in_order);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (kept > 0 && values[kept - 1].step == values[i].step) {
      values[kept - 1] = values[i];
    } else {
      values[kept++] = values[i];
    }
  }
  values.resize(kept);
  return values;
}

std::vector<Curve::Event> curve_events(const std::vector<engine::Event>& history) {
  std::vector<Curve::Event> events;
  Units step{};
  bool waited = true;  // The next attempt doesn't replace a failed one.
  for (const engine::Event& event : history) {
    if (const auto* reached = std::get_if<engine::LengthReached>(&event.body)) {
      step = reached->step;
    } else if (std::holds_alternative<engine::TrialPromoted>(event.body)) {
      events.push_back({step, event.at, "promoted"});
      waited = !std::get<engine::TrialPromoted>(event.body).in_place;
    } else if (std::holds_alternative<engine::TrialPaused>(event.body)) {
      events.push_back({step, event.at, "paused"});
      waited = true;
    } else if (std::holds_alternative<engine::LeaseGranted>(event.body)) {
      if (!waited) {
        events.push_back({step, event.at, "restarted"});
      }
      waited = false;
    } else if (const auto* ended = std::get_if<engine::TrialEnded>(&event.body)) {
      events.push_back({step, event.at, ended->state == TrialState::completed ? "finished" : "stopped"});
    }
  }
  return events;
}

std::string to_json(const Curves& curves, std::size_t points) {
  JsonText json;
  json.open('{')
      .member("metric", curves.metric)
      .member("group", curves.group)
      .member("unit", curves.unit)
      .member("lsn", curves.lsn)
      .key("trials")
      .open('[');
  for (const Curve& curve : curves.curves) {
    put_curve(json, curve, points);
  }
  json.close(']').key("rungs").open('[');
  for (std::size_t bracket = 0; bracket < curves.ladder.brackets.size(); ++bracket) {
    const auto& rungs = curves.ladder.brackets[bracket].rungs;
    for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
      json.open('{')
          .member("bracket", std::uint64_t{bracket})
          .member("rung", std::uint64_t{rung})
          .member("length", rungs[rung].length)
          // Only the searcher's metric has results on rungs.
          .member("cut_off", curves.metric == curves.ladder.metric ? rungs[rung].cutoff : std::nullopt)
          .close('}');
    }
  }
  return json.close(']').close('}').take();
}

void CurveDensity::add(std::vector<CurveValue> values) {
  trials_ += values.empty() ? 0U : 1U;
  for (const CurveValue& value : joined(std::move(values))) {
    if (std::isfinite(value.value)) {
      points_.push_back({static_cast<float>(whole(value.step)), static_cast<float>(value.value)});
    } else {
      ++nonfinite_;
    }
  }
}

std::string CurveDensity::json(const std::string& metric) const {
  float last_step = 1;
  std::vector<float> values;
  values.reserve(points_.size());
  for (const Point& point : points_) {
    last_step = std::max(last_step, point.step);
    values.push_back(point.value);
  }
  double low = 0;
  double high = 1;
  if (range_) {
    low = range_->first;
    high = range_->second;
  } else if (!values.empty()) {
    const auto quantile = [&values](double share) {
      const auto place =
          values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
      std::nth_element(values.begin(), place, values.end());
      return static_cast<double>(*place);
    };
    low = quantile(0.01);
    high = quantile(0.99);
  }
  if (!(high > low)) {
    const double half = std::max(std::abs(low) * 1e-6, 1e-12);
    low -= half;
    high += half;
  }
  // Steps are integers, so every bin has the same number of steps.
  const auto per_bin =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(last_step) / static_cast<double>(bins_)));
  const auto steps =
      static_cast<std::size_t>(std::ceil(static_cast<double>(last_step) / static_cast<double>(per_bin)));
  std::vector<std::uint32_t> counts(steps * bins_, 0);
  std::uint64_t below = 0;
  std::uint64_t above = 0;
  const double scale = static_cast<double>(bins_) / (high - low);
  for (const Point& point : points_) {
    if (point.value < low) {
      ++below;
    } else if (point.value > high) {
      ++above;
    } else {
      const double step = std::max(0.0F, point.step - 1) / static_cast<float>(per_bin);
      const auto column = std::min(steps - 1, static_cast<std::size_t>(step));
      const auto row =
          std::min(bins_ - 1, static_cast<std::size_t>((static_cast<double>(point.value) - low) * scale));
      ++counts[column * bins_ + row];
    }
  }
  JsonText json;
  json.open('{').member("metric", metric).key("steps").open('[');
  for (std::size_t edge = 0; edge <= steps; ++edge) {
    json.put(std::uint64_t{edge} * per_bin);
  }
  json.close(']').key("values").open('[');
  for (std::size_t edge = 0; edge <= bins_; ++edge) {
    json.put(low + static_cast<double>(edge) / scale);
  }
  json.close(']').key("counts").open('[');
  for (std::size_t column = 0; column < steps; ++column) {
    json.open('[');
    for (std::size_t row = 0; row < bins_; ++row) {
      json.put(counts[column * bins_ + row]);
    }
    json.close(']');
  }
  return json.close(']')
      .member("below", below)
      .member("above", above)
      .member("nonfinite", nonfinite_)
      .member("trials", trials_)
      .close('}')
      .take();
}

}  // namespace hpsearch::views
