#include "hpsearch/proto/views/trial_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::views {

using engine::Result;
using engine::Value;

namespace {

Value word_of(const Columns::Column& column, double code) {
  const auto value = proto::parse_json(column.words[static_cast<std::size_t>(code)]);
  return value ? *value : Value();
}

/// The content of a cell, in the form of a cursor.
Value cell(const Columns::Column& column, std::size_t row) {
  const double number = column.numbers[row];
  if (std::isnan(number)) {
    return {};
  }
  return column.has_words ? word_of(column, number) : Value(number);
}

/// The ranks of all words in their order, by code.
std::vector<double> places_of_words(const Columns::Column& column) {
  std::vector<Value> words;
  for (std::size_t code = 0; code < column.words.size(); ++code) {
    words.push_back(word_of(column, static_cast<double>(code)));
  }
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&words](std::size_t a, std::size_t b) { return compare_values(words[a], words[b]) < 0; });
  std::vector<double> places(words.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    places[order[place]] = static_cast<double>(place);
  }
  return places;
}

bool is_before(const std::vector<double>& a, std::uint64_t trial_a, const std::vector<double>& b,
               std::uint64_t trial_b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) {
      return a[i] < b[i];
    }
  }
  return trial_a < trial_b;
}

}  // namespace

Result<TrialOrder> TrialOrder::read(const engine::ExperimentRecord& experiment, std::string_view sort,
                                    std::string_view after) {
  TrialOrder order;
  if (!sort.empty()) {
    auto keys = read_sort(sort);
    if (!keys) {
      return keys.error();
    }
    order.sort_ = *std::move(keys);
  }
  const engine::Names names = trial_names(experiment.hparams.space());
  for (SortKey& key : order.sort_) {
    const auto field = find_field(experiment.hparams.space(), names, "sort", key.name);
    if (!field) {
      return field.error();
    }
    order.fields_ += "," + field->name;
    const bool is_metric = field->kind == TrialField::Kind::metric ||
                           field->kind == TrialField::Kind::result || field->kind == TrialField::Kind::last;
    if (is_metric && !experiment.config.searcher.smaller_is_better) {
      key.is_reversed = !key.is_reversed;
    }
  }
  if (!after.empty()) {
    auto cursor = PageCursor::read(after, order.sort_.size());
    if (!cursor) {
      return cursor.error();
    }
    order.after_ = *std::move(cursor);
  }
  return order;
}

/// By row, so that smaller keys come first; the cursor's keys are the last row.
std::vector<std::vector<double>> TrialOrder::keys_of(const Columns& columns) const {
  constexpr double last = std::numeric_limits<double>::infinity();
  const auto rows = static_cast<std::size_t>(columns.rows);
  std::vector<std::vector<double>> keys(rows + (after_ ? 1 : 0), std::vector<double>(sort_.size()));
  for (std::size_t i = 0; i < sort_.size(); ++i) {
    const Columns::Column& column = columns.columns[i + 1];
    const double sign = sort_[i].is_reversed ? -1 : 1;
    const std::vector<double> places = column.has_words ? places_of_words(column) : std::vector<double>();
    const auto key_of = [&](double number) {
      return std::isnan(number) ? last
             : column.has_words ? sign * places[static_cast<std::size_t>(number)]
                                : sign * number;
    };
    for (std::size_t row = 0; row < rows; ++row) {
      keys[row][i] = key_of(column.numbers[row]);
    }
    if (!after_) {
      continue;
    }
    const Value& cursor = after_->keys[i];
    double& key = keys[rows][i];
    if (cursor.is_null()) {
      key = last;
    } else if (!column.has_words) {
      key = sign * cursor.number_or(0);
    } else {  // The rank of its word, or of its place among the words.
      double place = -0.5;
      for (std::size_t code = 0; code < column.words.size(); ++code) {
        const int order = compare_values(word_of(column, static_cast<double>(code)), cursor);
        place = order == 0 ? places[code] : order < 0 ? std::max(place, places[code] + 0.5) : place;
        if (order == 0) {
          break;
        }
      }
      key = sign * place;
    }
  }
  return keys;
}

TrialOrder::Page TrialOrder::page(const Columns& columns, std::size_t limit) const {
  const std::vector<std::vector<double>> keys = keys_of(columns);
  const std::vector<double>& trials = columns.columns.front().numbers;
  std::vector<Row> rows;
  for (std::size_t row = 0; row < columns.rows; ++row) {
    const auto trial = static_cast<std::uint64_t>(trials[row]);
    if (!after_ || is_before(keys.back(), after_->number, keys[row], trial)) {
      rows.push_back({row, trial});
    }
  }
  const std::size_t count = std::min(limit, rows.size());
  std::partial_sort(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
      [&keys](const Row& a, const Row& b) { return is_before(keys[a.row], a.trial, keys[b.row], b.trial); });
  Page page;
  page.behind = rows.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    page.trials.push_back(rows[i].trial);
  }
  return page;
}

std::string TrialOrder::cursor_behind(const Columns& columns, std::uint64_t trial) const {
  const std::vector<double>& trials = columns.columns.front().numbers;
  const auto row = static_cast<std::size_t>(
      std::lower_bound(trials.begin(), trials.end(), static_cast<double>(trial)) - trials.begin());
  PageCursor cursor;
  cursor.number = trial;
  for (std::size_t i = 0; i < sort_.size(); ++i) {
    cursor.keys.push_back(cell(columns.columns[i + 1], row));
  }
  return cursor.text();
}

}  // namespace hpsearch::views
