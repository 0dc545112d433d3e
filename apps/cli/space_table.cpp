#include "cli/space_table.hpp"

#include <cmath>
#include <cstdint>
#include <variant>

#include "cli/table.hpp"
#include "cli/text.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

using engine::short_number;

/// What a grid makes of it.
template <class Range>
std::string points_of(const Range& range) {
  return range.count ? ", " + counted(*range.count, "point") + " in a grid" : "";
}

struct RangeText {
  std::string operator()(const engine::ConstParameter& constant) const {
    return engine::compact_json(constant.val);
  }
  std::string operator()(const engine::IntParameter& range) const {
    return std::to_string(range.minval) + " to " + std::to_string(range.maxval) + ", whole numbers" +
           points_of(range);
  }
  std::string operator()(const engine::DoubleParameter& range) const {
    return short_number(range.minval) + " to " + short_number(range.maxval) + points_of(range);
  }
  std::string operator()(const engine::LogParameter& range) const {
    return short_number(std::pow(range.base, range.minval)) + " to " +
           short_number(std::pow(range.base, range.maxval)) + ", logarithmic" + points_of(range);
  }
  std::string operator()(const engine::CategoricalParameter& one) const {
    constexpr std::size_t most_columns = 60;
    std::string out;
    for (const engine::Value& value : one.vals) {
      out += (out.empty() ? "" : ", ") + engine::compact_json(value);
    }
    return cut_to_width(printable(out), most_columns);
  }
};

}  // namespace

std::string space_table(const engine::Space& space) {
  Table table({{"HYPERPARAMETER"}, {"SEARCHED"}});
  std::uint64_t constants = 0;
  for (const engine::Space::Leaf& leaf : space.leaves()) {
    if (engine::is_constant(leaf.parameter)) {
      ++constants;
    } else {
      table.add({printable(leaf.path), std::visit(RangeText{}, leaf.parameter)});
    }
  }
  std::string out = table.empty() ? "" : table.text();
  if (constants > 0) {
    out += "and " + counted(constants, "constant") + "\n";
  }
  return out;
}

}  // namespace hpsearch::cli
