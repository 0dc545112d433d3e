#include "config/lengths.hpp"

#include <algorithm>
#include <array>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::engine {

namespace {

constexpr std::array<std::string_view, 3> known_units = {"batches", "epochs", "records"};

bool is_known_unit(std::string_view unit) {
  return std::find(known_units.begin(), known_units.end(), unit) != known_units.end();
}

bool is_word(std::string_view text) {
  constexpr std::size_t longest = 40;
  return !text.empty() && text.size() <= longest && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }) && !(text.front() >= '0' && text.front() <= '9');
}

// Records in one `unit`; nothing when the experiment does not say.
std::optional<std::uint64_t> records_in(std::string_view unit, const UnitRates& rates) {
  if (unit == "records") {
    return 1;
  }
  return unit == "epochs" ? rates.records_per_epoch : rates.global_batch_size;
}

// Says what converting between two different known units lacks; true when that is nothing.
bool can_convert(const Length& length, const std::string& unit, const UnitRates& rates, Findings& findings) {
  bool can = true;
  for (const std::string_view side : {std::string_view(length.unit), std::string_view(unit)}) {
    if (records_in(side, rates)) {
      continue;
    }
    can = false;
    const std::string what = "is in " + length.unit + ", the experiment counts " + unit + ", and ";
    if (side == "epochs") {
      findings.problems.push_back({length.path, what + "records_per_epoch is missing",
                                   "set records_per_epoch, or give every length in one unit"});
    } else if (!rates.has_global_batch_size) {
      findings.problems.push_back({length.path, what + "hyperparameters.global_batch_size is missing",
                                   "set it, or give every length in one unit"});
    } else {
      findings.problems.push_back({length.path,
                                   what + "hyperparameters.global_batch_size is not one positive integer",
                                   "make it a constant, or give every length in one unit"});
    }
  }
  return can;
}

}  // namespace

std::optional<Length> read_length(Section& section, std::string_view key, std::uint64_t least) {
  const Value* value = section.any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->as_map() == nullptr) {
    const std::optional<std::int64_t> bare = whole_number(*value);
    if (!bare || *bare < 0 || static_cast<std::uint64_t>(*bare) < least) {
      section.problem(
          key, "is " + quoted(*value),
          "an integer of at least " + std::to_string(least) + ", or that with its unit, as {epochs: 10}");
      return std::nullopt;
    }
    return Length{static_cast<std::uint64_t>(*bare), "", section.path_of(key)};
  }

  Section inner(value, section.path_of(key), section.findings());
  std::vector<std::string> units;
  for (const auto& [unit, amount] : *value->as_map()) {
    if (!amount.is_null()) {
      units.push_back(unit);
    }
  }
  if (units.size() != 1) {
    section.problem(key, units.empty() ? "names no unit" : "names " + std::to_string(units.size()) + " units",
                    "exactly one unit, as {batches: 1000}, {records: 64000} or {epochs: 10}");
    return std::nullopt;
  }
  std::string unit = units.front();
  if (!is_word(unit)) {
    section.problem(key, "has the unit " + quoted(Value(unit)), "a word of letters, digits and _");
    return std::nullopt;
  }
  const std::optional<std::uint64_t> amount = inner.integer(unit, least);
  if (!amount) {
    return std::nullopt;
  }
  if (unit == "batch" || unit == "record" || unit == "epoch") {
    const std::string plural = unit == "batch" ? "batches" : unit + "s";
    inner.note(unit, "read as `" + plural + "`");
    unit = plural;
  } else if (!is_known_unit(unit)) {
    for (const std::string_view known : known_units) {
      if (edit_distance(unit, known) <= 2) {
        inner.note(unit, "read as a custom unit; did you mean `" + std::string(known) + "`?");
      }
    }
  }
  return Length{*amount, std::move(unit), section.path_of(key)};
}

UnitRates unit_rates(const Space& space, std::optional<std::uint64_t> records_per_epoch) {
  UnitRates rates;
  rates.records_per_epoch = records_per_epoch;
  for (const Space::Leaf& leaf : space.leaves()) {
    if (leaf.path != "global_batch_size") {
      continue;
    }
    rates.has_global_batch_size = true;
    const auto* constant = std::get_if<ConstParameter>(&leaf.parameter);
    const std::optional<std::int64_t> size = constant != nullptr ? whole_number(constant->val) : std::nullopt;
    if (size && *size > 0 && leaf.when.empty()) {
      rates.global_batch_size = static_cast<std::uint64_t>(*size);
    }
  }
  return rates;
}

std::optional<Units> in_unit(const Length& length, const std::string& unit, const UnitRates& rates,
                             Findings& findings) {
  if (length.amount == 0) {
    return Units{0};
  }
  if (length.unit == "records" && !rates.has_global_batch_size) {
    findings.problems.push_back(
        {length.path, "is in records, and hyperparameters.global_batch_size is missing",
         "records need hyperparameters.global_batch_size; or use another unit, such as {samples: 1000}"});
    return std::nullopt;
  }
  if (length.unit.empty() || length.unit == unit) {
    return Units{length.amount};
  }
  if (!is_known_unit(length.unit) || !is_known_unit(unit)) {
    findings.problems.push_back(
        {length.path, "is in " + length.unit + ", but searcher.max_length is in " + unit,
         "a bare number, or the same unit; only batches, records and epochs convert"});
    return std::nullopt;
  }
  if (!can_convert(length, unit, rates, findings)) {
    return std::nullopt;
  }
  const Cardinality records = Cardinality{length.amount} * *records_in(length.unit, rates);
  const Cardinality converted = std::max<Cardinality>(records / *records_in(unit, rates), 1);
  if (converted > most_integer) {
    findings.problems.push_back({length.path, "is more than 2^63 " + unit, "a shorter length"});
    return std::nullopt;
  }
  return Units{static_cast<std::uint64_t>(converted)};
}

}  // namespace hpsearch::engine
