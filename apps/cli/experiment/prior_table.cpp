#include "cli/experiment/prior_table.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/render/csv.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Space;
using engine::Value;

constexpr std::string_view hparams_prefix = "hparams.";

Error wrong_prior(std::size_t line, const std::string& what) {
  return Error{Errc::bad_request, "line " + std::to_string(line) + ": " + what};
}

Value number_or_text(const std::string& cell) {
  if (const auto whole = engine::number_in<std::int64_t>(cell)) {
    return *whole;
  }
  const auto number = engine::number_in<double>(cell);
  return number ? Value(*number) : Value(cell);
}

/// Whether a cell is this value, as Python or as JSON spells it, or as another spelling of its number.
bool shows_value(const std::string& cell, const Value& value) {
  if (value.is_null()) {
    return cell.empty();
  }
  const Value read = number_or_text(cell);
  return cell == engine::python_text(value) || cell == engine::compact_json(value) ||
         (read.is_number() && value.is_number() && read.number_or(0) == value.number_or(0));
}

/// The value of a parameter in a cell; null if the cell is empty.
std::optional<Value> value_in(const std::string& cell, const engine::Parameter& parameter) {
  std::vector<Value> vals;
  if (const auto* constant = std::get_if<engine::ConstParameter>(&parameter)) {
    vals = {constant->val};
  } else if (const auto* categorical = std::get_if<engine::CategoricalParameter>(&parameter)) {
    vals = categorical->vals;
  }
  const auto found = std::find_if(vals.begin(), vals.end(),
                                  [&cell](const Value& value) { return shows_value(cell, value); });
  if (found != vals.end()) {
    return *found;
  }
  return cell.empty() ? std::nullopt : std::optional(number_or_text(cell));
}

void put(Value& map, const std::vector<std::string>& keys, Value value) {
  Value* here = &map;
  for (const std::string& key : keys) {
    if (here->as_map() == nullptr) {
      *here = Value::Map();
    }
    here = &(*here->as_map())[key];
  }
  *here = std::move(value);
}

/// Places of the needed columns in the header.
struct PriorColumns {
  struct Hparam {
    std::size_t at;
    const Space::Leaf* leaf;  ///< nullptr: the space has no such parameter.
    std::string name;
  };
  std::optional<std::size_t> length;
  std::optional<std::size_t> metric;
  std::vector<Hparam> hparams;
};

Result<PriorColumns> prior_columns(const CsvRow& header, const Space& space) {
  PriorColumns columns;
  bool has_reached = false;
  for (std::size_t at = 0; at < header.cells.size(); ++at) {
    const std::string& title = header.cells[at];
    if (title == "metric") {
      columns.metric = at;
    } else if (title == "reached" || (title == "length" && !has_reached)) {
      columns.length = at;
      has_reached = title == "reached";
    } else if (title.starts_with(hparams_prefix)) {
      std::string name = title.substr(hparams_prefix.size());
      const auto leaves = space.leaves();
      const auto leaf = std::find_if(leaves.begin(), leaves.end(),
                                     [&name](const Space::Leaf& one) { return one.path == name; });
      columns.hparams.push_back({at, leaf == leaves.end() ? nullptr : &*leaf, std::move(name)});
    }
  }
  const char* missing = columns.hparams.empty() ? "hparams.NAME, one for each hyperparameter"
                        : !columns.metric       ? "metric"
                        : !columns.length       ? "length (or reached)"
                                                : nullptr;
  if (missing != nullptr) {
    return wrong_prior(header.line, std::string("the header has no column ") + missing +
                                        "; hpsearch export EXPERIMENT writes such a file");
  }
  return columns;
}

/// A trial without a metric may not have trained at all.
Result<Value> prior_entry(std::size_t line, Value hparams, const std::optional<std::int64_t>& length,
                          Value metric) {
  if ((!length || *length < 1) && !metric.is_null()) {
    return wrong_prior(line, "has a metric but no length of at least 1");
  }
  return Value(Value::Map{{"hparams", std::move(hparams)},
                          {"length", std::max<std::int64_t>(length.value_or(1), 1)},
                          {"metric", std::move(metric)}});
}

}  // namespace

Result<Value::List> prior_of_csv(std::string_view text, const Space& space) {
  const Result<std::vector<CsvRow>> rows = read_csv(text);
  if (!rows) {
    return rows.error();
  }
  if (rows->empty()) {
    return Error{Errc::bad_request, "is empty"};
  }
  const Result<PriorColumns> columns = prior_columns(rows->front(), space);
  if (!columns) {
    return columns.error();
  }
  Value::List list;
  for (std::size_t i = 1; i < rows->size(); ++i) {
    const CsvRow& row = (*rows)[i];
    if (row.cells.size() != rows->front().cells.size()) {
      return wrong_prior(row.line, "has " + std::to_string(row.cells.size()) + " cells, and the header has " +
                                       std::to_string(rows->front().cells.size()));
    }
    Value hparams = Value::Map();
    for (const PriorColumns::Hparam& column : columns->hparams) {
      const std::string& cell = row.cells[column.at];
      if (column.leaf == nullptr) {
        if (!cell.empty()) {
          put(hparams, {column.name}, cell);
        }
      } else if (std::optional<Value> value = value_in(cell, column.leaf->parameter)) {
        put(hparams, column.leaf->keys, *std::move(value));
      }
    }
    const std::string& measured = row.cells[*columns->metric];
    const Value metric = measured.empty() ? Value() : number_or_text(measured);
    if (metric.as_text() != nullptr) {
      return wrong_prior(row.line, "the metric is \"" + printable(measured) + "\", which is no number");
    }
    const std::string& length = row.cells[*columns->length];
    const auto units = engine::number_in<std::int64_t>(length);
    if (!length.empty() && !units) {
      return wrong_prior(row.line, "the length is \"" + printable(length) + "\", which is no whole number");
    }
    Result<Value> made = prior_entry(row.line, std::move(hparams), units, metric);
    if (!made) {
      return made.error();
    }
    list.push_back(*std::move(made));
  }
  return list;
}

Result<Value::List> prior_of_json_lines(std::string_view text) {
  Value::List list;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    const Result<Value> read = proto::parse_json(one, {}, proto::NonFinite::reals);
    if (!read) {
      return wrong_prior(line, "is not JSON: " + read.error().message);
    }
    const Value& hparams = member(*read, "hparams");
    if (hparams.as_map() == nullptr) {
      return wrong_prior(
          line, "has no object \"hparams\"; hpsearch export EXPERIMENT --format jsonl writes such a file");
    }
    const Value& reached = member(*read, "reached");
    const Value& length = reached.is_null() ? member(*read, "length") : reached;
    const Value& metric = member(*read, "metric");
    if (!metric.is_null() && !metric.is_number()) {
      return wrong_prior(line,
                         "the metric is " + printable(engine::compact_json(metric)) + ", which is no number");
    }
    Result<Value> made = prior_entry(line, hparams, engine::whole_number(length), metric);
    if (!made) {
      return made.error();
    }
    list.push_back(*std::move(made));
  }
  return list;
}

}  // namespace hpsearch::cli
