#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "conformance/space_lines.hpp"
#include "conformance/table.hpp"
#include "hpsearch/engine/base/problem.hpp"

namespace hpsearch::conformance {
namespace {

using engine::Cardinality;
using engine::Space;
using engine::Value;

Cardinality cardinality_from(const std::string& digits) {
  Cardinality number = 0;
  for (const char digit : digits) {
    number = number * 10 + static_cast<unsigned>(digit - '0');
  }
  return number;
}

/// A log passes through libm, which may be off by a little; everything else is exact.
bool equal_at(const Space::Leaf& leaf, const Value& is, const Value& expected, bool exact) {
  const double* real = is.as_real();
  const double* other = expected.as_real();
  const auto* range = std::get_if<engine::DoubleParameter>(&leaf.parameter);
  const bool passes_libm = std::holds_alternative<engine::LogParameter>(leaf.parameter) ||
                           (range != nullptr && range->scale == engine::Scale::log && !range->step);
  const bool may_differ = !exact || passes_libm;
  if (may_differ && real != nullptr && other != nullptr) {
    return std::abs(*real - *other) <= 4e-16 * std::abs(*other);
  }
  return is == expected;
}

class Spaces : public testing::TestWithParam<Case> {
 protected:
  void expect_configuration(const Value& configuration, const Line& line, bool exact) const {
    SCOPED_TRACE(flat_text(space_, configuration) + " should be " + *line.answer);
    Value expected = Value::Map();
    for (auto& [path, value] : assignments(words_of(*line.answer))) {
      put(expected, path, std::move(value));
    }
    for (const Space::Leaf& leaf : space_.leaves()) {
      const Value* is = value_at(configuration, leaf);
      const Value* should_be = value_at(expected, leaf);
      ASSERT_EQ(is != nullptr, should_be != nullptr) << leaf.path;
      EXPECT_TRUE(is == nullptr || equal_at(leaf, *is, *should_be, exact)) << leaf.path;
    }
    engine::Problems problems;
    space_.check(configuration, "", problems);
    for (const engine::Problem& problem : problems) {
      ADD_FAILURE() << engine::describe(problem);
    }
  }

  void expect_grid(const std::string& answer) const {
    const engine::Result<Cardinality> size = space_.grid_size();
    if (answer.starts_with("lacks ")) {
      ASSERT_FALSE(size);
      EXPECT_NE(size.error().message.find("hyperparameters." + answer.substr(6) + " has no count"),
                std::string::npos)
          << size.error().message;
    } else if (answer == "overflows") {
      ASSERT_FALSE(size);
      EXPECT_NE(size.error().message.find("2^127"), std::string::npos) << size.error().message;
    } else {
      ASSERT_TRUE(size) << size.error().message;
      EXPECT_EQ(engine::to_text(*size), answer);
    }
  }

  Space space_ = space_of(GetParam());
};

TEST_P(Spaces, AnswerAsTheTableSays) {
  for (const Line& line : GetParam().lines) {
    SCOPED_TRACE(line.where);
    const std::string& asked = line.words.front();
    if (!line.answer) {
      EXPECT_TRUE(names_hyperparameter(line)) << "what is " << asked << "?";
    } else if (asked == "grid") {
      expect_grid(*line.answer);
    } else if (asked == "values") {
      const std::optional<Cardinality> values = space_.cardinality();
      EXPECT_EQ(values ? engine::to_text(*values) : "endless", *line.answer);
    } else if (asked == "point") {
      // A sum and a quotient in doubles stand within a rounding of the exact fraction; the ends of axes are
      // exact.
      const Cardinality index = cardinality_from(line.words.at(1));
      const bool corner = index == 0 || index + 1 == space_.grid_size().value();
      expect_configuration(space_.grid_point(index), line, corner);
    } else if (asked == "draw") {
      const std::uint64_t seed = std::stoull(line.words.at(1));
      const engine::TrialNumber trial(std::stoull(line.words.at(2)));
      expect_configuration(space_.sample(seed, trial), line, /*exact=*/true);
    } else {
      ADD_FAILURE() << "what is " << asked << "?";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, Spaces, testing::ValuesIn(read_tables(HPSEARCH_TABLES "/spaces")),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace hpsearch::conformance
