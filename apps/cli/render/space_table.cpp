#include "cli/render/space_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/levels.hpp"

namespace hpsearch::cli {
namespace {

using engine::short_number;

/// Its values in a grid.
template <class Range>
std::string points_of(const Range& range) {
  if constexpr (!std::is_same_v<Range, engine::LogParameter>) {
    if (range.step) {
      const std::uint64_t values = engine::Levels(range).last() + 1;
      return ", " + (range.count ? counted(std::min(*range.count, values), "point") + " in a grid"
                                 : counted(values, "value"));
    }
  }
  return range.count ? ", " + counted(*range.count, "point") + " in a grid" : "";
}

template <class Range>
std::string shape_of(const Range& range) {
  std::string shape = range.step ? " in steps of " + short_number(static_cast<double>(*range.step)) : "";
  return range.scale == engine::Scale::log ? shape + ", logarithmic" : shape;
}

struct RangeText {
  std::string operator()(const engine::ConstParameter& constant) const {
    return engine::compact_json(constant.val);
  }
  std::string operator()(const engine::IntParameter& range) const {
    return std::to_string(range.minval) + " to " + std::to_string(range.maxval) +
           (range.step ? "" : ", whole numbers") + shape_of(range) + points_of(range);
  }
  std::string operator()(const engine::DoubleParameter& range) const {
    return short_number(range.minval) + " to " + short_number(range.maxval) + shape_of(range) +
           points_of(range);
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
    return cut_to_width(printable(out), most_columns) + (one.ordered ? ", ordered" : "");
  }
};

}  // namespace

std::string range_in_words(const engine::Space& space, std::size_t leaf) {
  const std::string conditions = printable(space.when_text(leaf));
  return std::visit(RangeText{}, space.leaves()[leaf].parameter) +
         (conditions.empty() ? "" : "; only when " + conditions);
}

std::string space_table(const engine::Space& space) {
  Table table({{"HYPERPARAMETER"}, {"SEARCHED"}});
  std::uint64_t constants = 0;
  for (std::size_t i = 0; i < space.leaves().size(); ++i) {
    const engine::Space::Leaf& leaf = space.leaves()[i];
    if (engine::is_constant(leaf.parameter) && leaf.when.empty()) {
      ++constants;
    } else {
      table.add({printable(leaf.path), range_in_words(space, i)});
    }
  }
  std::string out = table.empty() ? "" : table.text();
  if (constants > 0) {
    out += "and " + counted(constants, "constant") + "\n";
  }
  if (space.is_constrained()) {
    const engine::Space::AllowedShare share = space.allowed_share();
    const double percent = 100.0 * static_cast<double>(share.allowed) / static_cast<double>(share.drawn);
    out += "where is satisfied by " + short_number(std::round(percent * 10) / 10) + " % of the space (" +
           std::to_string(share.allowed) + " of " + std::to_string(share.drawn) + " random configurations)\n";
  }
  return out;
}

}  // namespace hpsearch::cli
