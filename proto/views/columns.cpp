#include "hpsearch/proto/views/columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/text.hpp"
#include "views/json_text.hpp"

namespace hpsearch::views {

using engine::Errc;
using engine::Error;
using engine::ExperimentRecord;
using engine::Result;
using engine::Value;

namespace {

using FieldKind = TrialField::Kind;

constexpr std::array<std::string_view, 5> type_names = {"f64", "i64", "u32", "u16", "u8"};
constexpr std::size_t most_fields = 300;
constexpr std::size_t most_metrics = 100;  // Unless `fields` names more.
constexpr std::string_view metric_prefix = "metrics.";
constexpr std::size_t most_condition_bytes = 4096;
constexpr double most_exact = 9'007'199'254'740'992;  // 2^53: integers above it may be rounded in a double.
constexpr std::int64_t no_integer = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t most_words = 65'535;  // The highest code stands for "missing".

std::string in_json(std::string_view text) {
  return engine::compact_json(Value(text));
}

ColumnType type_of(const TrialField& field, const engine::Space& space) {
  switch (field.kind) {
    case FieldKind::at:
    case FieldKind::length:
    case FieldKind::reached:
      return ColumnType::i64;
    case FieldKind::trial:
    case FieldKind::attempts:
    case FieldKind::restarts:
    case FieldKind::worker:
      return ColumnType::u32;
    case FieldKind::state:
    case FieldKind::nonfinite:
    case FieldKind::rung:
    case FieldKind::reason:
    case FieldKind::starred:
      return ColumnType::u8;
    case FieldKind::bracket:
    case FieldKind::labels:
    case FieldKind::note:
    case FieldKind::failure:
      return ColumnType::u16;
    case FieldKind::hparam:
      return !field.is_number(space) ? ColumnType::u16
             : std::holds_alternative<engine::IntParameter>(space.leaves()[field.leaf].parameter)
                 ? ColumnType::i64
                 : ColumnType::f64;
    case FieldKind::metric:
    case FieldKind::result:
    case FieldKind::last:
    case FieldKind::slot_seconds:
    case FieldKind::created_at:
    case FieldKind::started_at:
    case FieldKind::reported_at:
    case FieldKind::ended_at:
    case FieldKind::reported:
      break;
  }
  return ColumnType::f64;
}

/// The words of a field that are known at the start; more may be added.
std::vector<std::string> known_words(const TrialField& field, const engine::Space& space) {
  std::vector<std::string> words;
  for (const Value& word : field.is_number(space) ? std::vector<Value>() : field.words(space)) {
    words.push_back(engine::compact_json(word));
  }
  return words;
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    names.emplace_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return names;
}

/// A pseudo-random number that is the same on every machine.
std::uint64_t scattered(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15U;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31U);
}

}  // namespace

Result<ColumnScan> ColumnScan::begin(const ExperimentRecord& experiment, const MetricNames& metrics,
                                     const ColumnsQuery& query, engine::Instant now) {
  ColumnScan scan(metrics, now, query.length);
  scan.sample_ = query.sample;
  scan.states_ = query.states;
  const engine::Space& space = experiment.hparams.space();
  const engine::Names names = trial_names(space);
  const auto want = [&](const TrialField& field, bool is_hidden) {
    scan.wanted_.push_back({field, type_of(field, space), is_hidden, !field.is_number(space)});
  };
  if (query.fields.empty() || query.only_hparams) {
    for (const FieldKind kind : {FieldKind::trial, FieldKind::state, FieldKind::result, FieldKind::metric,
                                 FieldKind::at, FieldKind::nonfinite, FieldKind::reached, FieldKind::rung}) {
      if (!query.only_hparams) {
        want({kind, 0, trial_field_names()[static_cast<std::size_t>(kind)]}, false);
      }
    }
    for (std::size_t leaf = 0; leaf < space.leaves().size(); ++leaf) {
      if (!engine::is_constant(space.leaves()[leaf].parameter)) {
        want({FieldKind::hparam, leaf, "hparams." + space.leaves()[leaf].path}, false);
      }
    }
    std::vector<std::string> reported =
        query.only_hparams ? std::vector<std::string>() : metrics.names(experiment.id);
    reported.resize(std::min(reported.size(), most_metrics));
    for (const std::string& name : reported) {
      want({FieldKind::reported, 0, std::string(metric_prefix) + name}, false);
    }
  } else {
    for (const std::string& name : names_in(query.fields)) {
      const bool is_metric = name.starts_with(metric_prefix) &&
                             metrics.has(experiment.id, std::string_view(name).substr(metric_prefix.size()));
      const auto field = is_metric ? Result<TrialField>(TrialField{FieldKind::reported, 0, name})
                                   : find_field(space, names, "fields", name);
      if (!field) {
        return field.error();
      }
      want(*field, false);
      if (scan.wanted_.size() > most_fields) {
        return Error{Errc::bad_request, "fields: at most " + std::to_string(most_fields) + " are allowed"};
      }
    }
  }
  if (query.sample > 0) {
    for (const FieldKind kind : {FieldKind::metric, FieldKind::state, FieldKind::rung}) {
      want({kind, 0, ""}, true);
    }
  }
  if (!query.where.empty()) {
    const auto filter =
        query.where.size() <= most_condition_bytes
            ? engine::Formula::parse_condition(query.where, names)
            : Error{Errc::bad_request, "longer than " + std::to_string(most_condition_bytes) + " bytes"};
    if (!filter) {
      return Error{Errc::bad_request, "where: " + filter.error().message};
    }
    for (const std::size_t name : filter->names()) {
      scan.filter_fields_.emplace(name, trial_field(space, name));
    }
    scan.filter_ = *filter;
  }
  for (const Wanted& wanted : scan.wanted_) {
    scan.words_.push_back(known_words(wanted.field, space));
  }
  scan.numbers_.resize(scan.wanted_.size());
  scan.integers_.resize(scan.wanted_.size());
  scan.codes_.resize(scan.wanted_.size());
  return scan;
}

bool ColumnScan::read_some(const ExperimentRecord& experiment, std::size_t cells) {
  // Conditions compare a copy of texts in lower case.
  const std::size_t per_trial = wanted_.size() + 16 * filter_fields_.size() + 1;
  const std::size_t end =
      std::min(experiment.trials.size(), next_ + std::max<std::size_t>(1, cells / per_trial));
  for (std::vector<double>& column : numbers_) {
    column.reserve(experiment.trials.size());
    column.resize(end, std::numeric_limits<double>::quiet_NaN());
  }
  included_.resize(end, false);
  for (; next_ < end; ++next_) {
    read(experiment, next_);
  }
  return next_ < experiment.trials.size();
}

bool ColumnScan::is_included(const ExperimentRecord& experiment, std::size_t trial) {
  const auto state = static_cast<unsigned>(experiment.trials[trial].state);
  if (states_ != 0 && (states_ >> state & 1U) == 0) {
    return false;
  }
  return !filter_ || filter_->holds([&](std::size_t name) {
    return reader_.value(experiment, trial, filter_fields_.at(name));
  });
}

double ColumnScan::code_of(std::size_t column, const Value& value) {
  if (value.is_null()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::vector<std::string>& words = words_[column];
  std::map<std::string, std::size_t>& codes = codes_[column];
  if (codes.empty()) {
    for (std::size_t code = 0; code < words.size(); ++code) {
      codes.emplace(words[code], code);
    }
  }
  const std::string word = engine::compact_json(value);
  if (const auto known = codes.find(word); known != codes.end()) {
    return static_cast<double>(known->second);
  }
  if (words.size() >= most_words - 1) {  // One word replaces all words beyond the limit.
    if (words.size() < most_words) {
      words.push_back(in_json("other"));
    }
    return static_cast<double>(most_words - 1);
  }
  codes.emplace(word, words.size());
  words.push_back(word);
  return static_cast<double>(words.size() - 1);
}

void ColumnScan::read(const ExperimentRecord& experiment, std::size_t trial) {
  included_[trial] = is_included(experiment, trial);
  if (!included_[trial]) {
    return;
  }
  for (std::size_t column = 0; column < wanted_.size(); ++column) {
    const TrialField& field = wanted_[column].field;
    double number = reader_.number(experiment, trial, field);
    if (field.kind == FieldKind::reported) {
      number =
          metrics_->at_best(experiment, trial, std::string_view(field.name).substr(metric_prefix.size()));
    } else if (field.kind == FieldKind::failure || field.kind == FieldKind::labels ||
               field.kind == FieldKind::note) {
      number = code_of(column, reader_.value(experiment, trial, field));
    } else if (field.kind == FieldKind::hparam && std::isnan(number)) {
      const Value value =
          reader_.value(experiment, trial, field);  // The value is absent, or its shape isn't the space's.
      number = field.is_number(experiment.hparams.space())
                   ? value.number_or(std::numeric_limits<double>::quiet_NaN())
                   : code_of(column, value);
    }
    if (wanted_[column].type == ColumnType::i64 && std::abs(number) >= most_exact) {
      if (const Value value = reader_.value(experiment, trial, field); value.as_integer() != nullptr) {
        integers_[column][trial] = *value.as_integer();
      }
    }
    numbers_[column][trial] = number;
  }
}

/// A sample of the included rows: the best quarter of it, and of the other rows some of each rung and state,
/// in proportion to their number.
std::vector<std::size_t> ColumnScan::chosen() const {
  std::vector<std::size_t> rows;
  for (std::size_t trial = 0; trial < included_.size(); ++trial) {
    if (included_[trial]) {
      rows.push_back(trial);
    }
  }
  if (sample_ == 0 || rows.size() <= sample_) {
    return rows;
  }
  const std::size_t hidden = wanted_.size() - 3;
  const std::vector<double>& metric = numbers_[hidden];
  const double sign = smaller_is_better_ ? 1 : -1;
  std::vector<std::size_t> ranked = rows;
  const auto best = static_cast<std::ptrdiff_t>(std::max<std::uint64_t>(1, sample_ / 4));
  std::partial_sort(ranked.begin(), ranked.begin() + best, ranked.end(), [&](std::size_t a, std::size_t b) {
    if (std::isnan(metric[a]) || std::isnan(metric[b])) {
      return std::isnan(metric[a]) == std::isnan(metric[b]) ? a < b : std::isnan(metric[b]);
    }
    return metric[a] != metric[b] ? sign * metric[a] < sign * metric[b] : a < b;
  });
  std::map<std::pair<double, double>, std::vector<std::size_t>> strata;
  for (auto row = ranked.begin() + best; row != ranked.end(); ++row) {
    strata[{numbers_[hidden + 1][*row], numbers_[hidden + 2][*row]}].push_back(*row);
  }
  const std::size_t rest = ranked.size() - static_cast<std::size_t>(best);
  std::size_t left = sample_ - static_cast<std::size_t>(best);
  const double share = static_cast<double>(left) / static_cast<double>(rest);
  ranked.resize(static_cast<std::size_t>(best));
  for (auto& [key, members] : strata) {
    const auto fair = static_cast<std::size_t>(std::ceil(share * static_cast<double>(members.size())));
    const std::size_t count = std::min({left, members.size(), fair});
    std::partial_sort(
        members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count), members.end(),
        [](std::size_t a, std::size_t b) { return std::pair(scattered(a), a) < std::pair(scattered(b), b); });
    ranked.insert(ranked.end(), members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count));
    left -= count;
  }
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

void ColumnScan::finish(const ExperimentRecord& experiment, engine::Lsn lsn) {
  if (!changed_.empty()) {
    reader_.refresh_results(experiment);
  }
  for (const std::uint64_t trial : changed_) {
    if (trial < next_) {
      read(experiment, static_cast<std::size_t>(trial));
    }
  }
  changed_.clear();
  lsn_ = lsn;
  smaller_is_better_ = experiment.config.searcher.smaller_is_better;
  lengths_ = experiment.tally.rungs();
  for (const Wanted& wanted : wanted_) {
    if (wanted.field.kind == FieldKind::result) {
      length_ = reader_.results(experiment).length;
      compared_ = reader_.results(experiment).lengths;
    }
  }
}

Columns ColumnScan::take() {
  for (std::size_t column = 0; column < wanted_.size(); ++column) {
    if (wanted_[column].field.kind == FieldKind::rung) {
      for (double& number : numbers_[column]) {
        number = rung_reached(lengths_, number);
      }
    }
  }
  const std::vector<std::size_t> rows = chosen();
  Columns result;
  result.lsn = lsn_;
  result.total = included_.size();
  result.rows = rows.size();
  result.length = length_;
  result.lengths = compared_;
  result.terms = filter_ ? filter_->terms() : std::vector<std::string>();
  for (std::size_t column = 0; column < wanted_.size(); ++column) {
    const Wanted& wanted = wanted_[column];
    if (wanted.is_hidden) {
      continue;
    }
    Columns::Column& made = result.columns.emplace_back();
    made.name = wanted.field.name;
    made.type = wanted.type;
    made.has_words = wanted.has_words;
    made.words = std::move(words_[column]);
    if (rows.size() == numbers_[column].size()) {
      made.numbers = std::move(numbers_[column]);
      made.integers = std::move(integers_[column]);
      continue;
    }
    made.numbers.reserve(rows.size());
    for (const std::size_t row : rows) {
      if (const auto exact = integers_[column].find(row); exact != integers_[column].end()) {
        made.integers.emplace(made.numbers.size(), exact->second);
      }
      made.numbers.push_back(numbers_[column][row]);
    }
  }
  return result;
}

namespace {

void put_fields(JsonText& json, const Columns& columns) {
  json.key("terms").open('[');
  for (const std::string& term : columns.terms) {
    json.put(term);
  }
  json.close(']').member("length", columns.length).key("lengths").open('[');
  for (const ComparedResults::Length& length : columns.lengths) {
    json.open('{').member("length", length.length).member("results", length.results).close('}');
  }
  json.close(']');
  json.key("fields").open('[');
  for (const Columns::Column& column : columns.columns) {
    json.open('{')
        .member("name", column.name)
        .member("type", type_names[static_cast<std::size_t>(column.type)]);
    if (column.has_words) {
      json.key("words").open('[');
      for (const std::string& word : column.words) {
        json.raw(word);
      }
      json.close(']');
    }
    json.close('}');
  }
  json.close(']');
}

void put_numbers(JsonText& json, const Columns::Column& column) {
  json.open('[');
  for (std::size_t row = 0; row < column.numbers.size(); ++row) {
    const double number = column.numbers[row];
    if (std::isnan(number)) {
      json.null();
    } else if (column.type == ColumnType::f64) {
      json.put(number);
    } else if (column.type == ColumnType::i64) {
      json.put(column.integer(row));
    } else {
      json.put(static_cast<std::uint64_t>(number));
    }
  }
  json.close(']');
}

template <class Number>
void append_number(std::string& bytes, Number number) {
  char raw[sizeof(Number)];
  std::memcpy(raw, &number, sizeof raw);
  if constexpr (std::endian::native == std::endian::big) {
    std::reverse(std::begin(raw), std::end(raw));
  }
  bytes.append(raw, sizeof raw);
}

template <class Whole>
void append_whole(std::string& bytes, double number) {
  constexpr Whole none = std::numeric_limits<Whole>::max();
  append_number(bytes, std::isnan(number)                        ? none
                       : number >= static_cast<double>(none) - 1 ? static_cast<Whole>(none - 1)
                                                                 : static_cast<Whole>(number));
}

void append_rows(std::string& bytes, const Columns::Column& column, std::size_t begin, std::size_t end) {
  for (std::size_t row = begin; row < end; ++row) {
    const double number = column.numbers[row];
    switch (column.type) {
      case ColumnType::f64:
        append_number(bytes, number);
        break;
      case ColumnType::i64:
        append_number(bytes, std::isnan(number) ? no_integer : column.integer(row));
        break;
      case ColumnType::u32:
        append_whole<std::uint32_t>(bytes, number);
        break;
      case ColumnType::u16:
        append_whole<std::uint16_t>(bytes, number);
        break;
      case ColumnType::u8:
        append_whole<std::uint8_t>(bytes, number);
        break;
    }
  }
  bytes.append((8 - bytes.size() % 8) % 8, '\0');
}

}  // namespace

std::int64_t Columns::Column::integer(std::size_t row) const {
  if (const auto exact = integers.find(row); exact != integers.end()) {
    return exact->second;
  }
  const double number =
      numbers[row];  // Infinite metrics and the like are missing; the limits only keep the cast defined.
  return number >= 9.2e18    ? std::numeric_limits<std::int64_t>::max()
         : number <= -9.2e18 ? no_integer + 1
                             : static_cast<std::int64_t>(number);
}

std::string to_json(const Columns& columns) {
  JsonText json;
  json.open('{').member("lsn", columns.lsn).member("rows", columns.rows).member("total", columns.total);
  put_fields(json, columns);
  json.key("columns").open('[');
  for (const Columns::Column& column : columns.columns) {
    put_numbers(json, column);
  }
  return json.close(']').close('}').take();
}

std::string to_bytes(const Columns& columns) {
  JsonText json;
  json.open('{')
      .member("lsn", columns.lsn)
      .member("rows", columns.rows)
      .member("total", columns.total)
      .member("chunk_rows", std::uint64_t{chunk_rows});
  put_fields(json, columns);
  std::string bytes = json.close('}').take();
  bytes.append(7 - bytes.size() % 8, ' ');
  bytes += '\n';
  for (std::size_t begin = 0; begin < columns.rows; begin += chunk_rows) {
    const std::size_t end = std::min<std::size_t>(columns.rows, begin + chunk_rows);
    for (const Columns::Column& column : columns.columns) {
      append_rows(bytes, column, begin, end);
    }
  }
  return bytes;
}

}  // namespace hpsearch::views
