#include "hpsearch/engine/sim/curve_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine::sim {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Error wrong(std::string what) {
  return Error{Errc::bad_request, std::move(what)};
}
Error wrong(std::size_t line, const std::string& what) {
  return wrong("line " + std::to_string(line) + ": " + what);
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// Those of one line, as RFC 4180 has them: in quotes a comma is a letter, and two quotes are one. Nothing: a
/// quote does not end.
std::optional<std::vector<std::string>> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (;;) {
    line = trimmed(line);
    std::string cell;
    if (line.starts_with('"')) {
      for (line.remove_prefix(1);; line.remove_prefix(1)) {
        const std::size_t quote = line.find('"');
        if (quote == std::string_view::npos) {
          return std::nullopt;
        }
        cell += line.substr(0, quote);
        line.remove_prefix(quote + 1);
        if (!line.starts_with('"')) {
          break;
        }
        cell += '"';
      }
    }
    const std::size_t comma = line.find(',');
    cell += trimmed(line.substr(0, comma));
    cells.push_back(std::move(cell));
    if (comma == std::string_view::npos) {
      return cells;
    }
    line.remove_prefix(comma + 1);
  }
}

std::optional<double> read_metric(std::string_view text) {
  return text.empty() ? std::optional(nan) : number_in<double>(text.starts_with('+') ? text.substr(1) : text);
}

struct Columns {
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::size_t trial = none;
  std::size_t length = none;
  std::size_t metric = none;
  std::size_t seconds = none;
  std::vector<std::pair<std::string, std::size_t>> hparams;  // Names and places, where there is no trial.
  std::size_t most = 0;                                      // The largest of these.
  std::size_t count = 0;                                     // With all others.
};

Result<Columns> columns_of(std::size_t line, const std::vector<std::string>& titles) {
  Columns columns;
  columns.count = titles.size();
  const std::pair<std::string_view, std::size_t*> known[] = {{"trial", &columns.trial},
                                                             {"length", &columns.length},
                                                             {"metric", &columns.metric},
                                                             {"seconds", &columns.seconds}};
  for (const auto& [name, place] : known) {
    for (std::size_t i = 0; i < titles.size(); ++i) {
      if (titles[i] == name) {
        if (*place != Columns::none) {
          return wrong(line, "the column \"" + std::string(name) + "\" stands twice");
        }
        *place = i;
        columns.most = std::max(columns.most, i);
      }
    }
    if (*place == Columns::none && (name == "length" || name == "metric")) {
      return wrong(line, "the header has no column \"" + std::string(name) +
                             "\" (trial, length and metric are needed, seconds may be there)");
    }
  }
  if (columns.trial == Columns::none) {
    constexpr std::string_view prefix = "hparams.";
    for (std::size_t i = 0; i < titles.size(); ++i) {
      if (titles[i].starts_with(prefix)) {
        columns.hparams.emplace_back(titles[i].substr(prefix.size()), i);
        columns.most = std::max(columns.most, i);
      }
    }
    if (columns.hparams.empty()) {
      return wrong(line,
                   "the header has no column \"trial\", and none of a hyperparameter such as "
                   "\"hparams.lr\": one or the other says whose curve it is");
    }
  }
  return columns;
}

/// A value as curves are looked up by: numbers alike however they are written.
std::string canonical(const std::string& cell) {
  const auto number = number_in<double>(cell);
  return number ? compact_json(Value(*number)) : cell;
}
std::string canonical(const Value& value) {
  if (value.is_number()) {
    return compact_json(Value(value.number_or(0)));
  }
  const auto* text = value.as_text();
  return text != nullptr ? *text : compact_json(value);
}

Result<CurveTable::Point> point_of(std::size_t line, const std::vector<std::string>& cells,
                                   const Columns& columns) {
  if (cells.size() <= columns.most) {
    return wrong(line, "has " + std::to_string(cells.size()) + " cells, fewer than the header");
  }
  if (cells.size() > columns.count) {
    return wrong(line, "has " + std::to_string(cells.size()) + " cells, more than the header, which has " +
                           std::to_string(columns.count) +
                           " (a cell with a comma in it stands in double quotes)");
  }
  const auto trial = columns.trial == Columns::none ? std::optional<std::uint64_t>(0)
                                                    : number_in<std::uint64_t>(cells[columns.trial]);
  const auto length = number_in<std::uint64_t>(cells[columns.length]);
  const auto metric = read_metric(cells[columns.metric]);
  const auto bad = [&](const char* column, std::size_t at, const char* allowed) {
    return wrong(line, std::string(column) + " is \"" + cells[at] + "\" (" + allowed + ")");
  };
  if (!trial) {
    return bad("trial", columns.trial, "an integer of at least 0");
  }
  if (!length) {
    return bad("length", columns.length, "an integer of at least 0");
  }
  if (!metric) {
    return bad("metric", columns.metric, "a number, nan, inf, -inf or nothing");
  }
  CurveTable::Point point{*trial, Units{*length}, *metric, std::nullopt};
  if (columns.seconds != Columns::none) {
    point.seconds = number_in<double>(cells[columns.seconds]);
    if (!point.seconds || !std::isfinite(*point.seconds) || *point.seconds < 0) {
      return bad("seconds", columns.seconds, "a number of at least 0");
    }
  }
  return point;
}

}  // namespace

Result<std::unique_ptr<CurveTable>> CurveTable::from_points(std::vector<Point> points, Missing missing) {
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return std::tie(a.trial, a.length) < std::tie(b.trial, b.length);
  });
  std::unique_ptr<CurveTable> table(new CurveTable());
  table->missing_ = missing;
  table->has_times_ = !points.empty() && points.front().seconds.has_value();
  for (const Point& point : points) {
    const std::string name =
        "trial " + std::to_string(point.trial) + ", length " + std::to_string(count(point.length));
    if (point.seconds.has_value() != table->has_times_) {
      return wrong(name + ": either every measurement has its time or none has");
    }
    const bool new_trial = table->curves_.empty() || table->curves_.back().front().trial != point.trial;
    if (new_trial) {
      table->curves_.emplace_back();
    } else {
      const Point& before = table->curves_.back().back();
      if (before.length == point.length) {
        return wrong(name + " stands twice");
      }
      if (table->has_times_ && *point.seconds < *before.seconds) {
        return wrong(name + ": its time is less than that of length " + std::to_string(count(before.length)));
      }
    }
    table->curves_.back().push_back(point);
  }
  return table;
}

Result<std::unique_ptr<CurveTable>> CurveTable::parse(std::string_view csv, Missing missing) {
  std::optional<Columns> columns;
  std::vector<Point> points;
  std::map<std::vector<std::string>, std::uint64_t> by_configuration;
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (csv.starts_with(byte_order_mark)) {
    csv.remove_prefix(byte_order_mark.size());
  }
  for (std::size_t line = 1; !csv.empty(); ++line) {
    const std::size_t end = csv.find('\n');
    const std::string_view text = trimmed(csv.substr(0, end));
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    if (text.empty()) {
      continue;
    }
    const std::optional<std::vector<std::string>> cells = cells_of(text);
    if (!cells) {
      return wrong(line, "a double quote is not closed on it");
    }
    if (!columns) {
      Result<Columns> read_columns = columns_of(line, *cells);
      if (!read_columns) {
        return read_columns.error();
      }
      columns = *read_columns;
      continue;
    }
    Result<Point> point = point_of(line, *cells, *columns);
    if (!point) {
      return point.error();
    }
    if (columns->trial == Columns::none) {
      std::vector<std::string> values;
      for (const auto& [name, place] : columns->hparams) {
        values.push_back(canonical((*cells)[place]));
      }
      point->trial = by_configuration.try_emplace(std::move(values), by_configuration.size()).first->second;
    }
    points.push_back(*point);
  }
  if (points.empty()) {
    return wrong("there is no measurement in it");
  }
  if (!columns->hparams.empty() && missing == Missing::cycle) {
    return wrong("its curves belong to configurations, so trials cannot take them in turn");
  }
  Result<std::unique_ptr<CurveTable>> table = from_points(std::move(points), missing);
  if (table) {
    for (const auto& [name, place] : columns->hparams) {
      (*table)->names_.push_back(name);
    }
    (*table)->by_configuration_ = std::move(by_configuration);
  }
  return table;
}

const CurveTable::Curve* CurveTable::curve_of(const Training& training) const {
  if (names_.empty()) {
    return curve_of(training.trial.number());
  }
  std::vector<std::string> values;
  for (const std::string& name : names_) {
    const Value* value = training.hparams.at_path(name);
    values.push_back(value == nullptr ? "" : canonical(*value));
  }
  const auto found = by_configuration_.find(values);
  return found == by_configuration_.end() ? nullptr : curve_of(found->second);
}

const CurveTable::Curve* CurveTable::curve_of(std::uint64_t trial) const {
  const auto found =
      std::lower_bound(curves_.begin(), curves_.end(), trial,
                       [](const Curve& curve, std::uint64_t number) { return curve.front().trial < number; });
  if (found != curves_.end() && found->front().trial == trial) {
    return &*found;
  }
  return missing_ == Missing::cycle && !curves_.empty() ? &curves_[trial % curves_.size()] : nullptr;
}

Status CurveTable::covers(const Training& training) {
  if (curve_of(training) != nullptr) {
    return Done{};
  }
  if (!names_.empty()) {
    return wrong("trial " + std::to_string(training.trial.number()) + " has no curve: the table has " +
                 std::to_string(curves_.size()) + " configurations, and not " +
                 compact_json(training.hparams));
  }
  if (curves_.empty()) {
    return wrong("trial " + std::to_string(training.trial.number()) + " has no curve: nothing was measured");
  }
  return wrong("trial " + std::to_string(training.trial.number()) + " has no curve: the table has " +
               std::to_string(curves_.size()) + ", of trials " +
               std::to_string(curves_.front().front().trial) + " to " +
               std::to_string(curves_.back().front().trial));
}

double CurveTable::metric(const Training& training, Units length) {
  const Curve* curve = curve_of(training);
  if (curve == nullptr) {
    return nan;
  }
  const auto after = std::upper_bound(curve->begin(), curve->end(), length,
                                      [](Units wanted, const Point& point) { return wanted < point.length; });
  return after == curve->begin() ? nan : std::prev(after)->metric;
}

double CurveTable::seconds_until(const Curve& curve, Units length) {
  const auto after = std::lower_bound(curve.begin(), curve.end(), length,
                                      [](const Point& point, Units wanted) { return point.length < wanted; });
  Point before{};
  before.seconds = 0;
  if (after != curve.begin()) {
    before = *std::prev(after);
  }
  const double done = static_cast<double>(count(length) - count(before.length));
  if (after == curve.end()) {
    const double mean =
        count(before.length) == 0 ? 0 : *before.seconds / static_cast<double>(count(before.length));
    return *before.seconds + done * mean;
  }
  const double step = static_cast<double>(count(after->length) - count(before.length));
  return step > 0 ? *before.seconds + (*after->seconds - *before.seconds) * done / step : *after->seconds;
}

double CurveTable::seconds(const Training& training, Units from, Units to) {
  const Curve* curve = curve_of(training);
  if (curve == nullptr || !has_times_) {
    return Curves::seconds(training, from, to);
  }
  return seconds_until(*curve, to) - seconds_until(*curve, from);
}

}  // namespace hpsearch::engine::sim
