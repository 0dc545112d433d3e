#include "hpsearch/engine/base/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "hpsearch/engine/base/problem.hpp"

namespace hpsearch::engine {
namespace {

// The table holds hexadecimal doubles and what CPython 3.11's repr() printed for them.
TEST(PythonFloat, AgreesWithPythonOnHardCases) {
  std::ifstream table(HPSEARCH_TEST_DATA "/engine/python_floats.txt");
  std::string hexadecimal;
  std::string repr;
  int cases = 0;
  while (table >> hexadecimal >> repr) {
    const double number = std::strtod(hexadecimal.c_str(), nullptr);
    EXPECT_EQ(python_float(number), repr) << hexadecimal;
    EXPECT_EQ(python_float(-number), "-" + repr) << hexadecimal;
    ++cases;
  }
  EXPECT_GE(cases, 500);
}

TEST(PythonFloat, WritesZerosAndTheNonFinite) {
  EXPECT_EQ(python_float(0.0), "0.0");
  EXPECT_EQ(python_float(-0.0), "-0.0");
  EXPECT_EQ(python_float(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(python_float(-std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(python_float(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(python_float(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(PythonText, IsWhatStrPrints) {
  EXPECT_EQ(python_text(Value()), "None");
  EXPECT_EQ(python_text(true), "True");
  EXPECT_EQ(python_text(false), "False");
  EXPECT_EQ(python_text(64), "64");
  EXPECT_EQ(python_text(1.0), "1.0");
  EXPECT_EQ(python_text(1e-5), "1e-05");
  EXPECT_EQ(python_text("two words"), "two words");
  EXPECT_EQ(python_text(Value::List{1, "a"}), R"([1,"a"])");
}

TEST(CompactJson, KeepsNumberTypes) {
  const Value tree = Value::Map{{"int", 1},
                                {"real", 1.0},
                                {"small", 1e-5},
                                {"large", 1e22},
                                {"least", std::numeric_limits<std::int64_t>::min()}};
  EXPECT_EQ(compact_json(tree),
            R"({"int":1,"large":1e+22,"least":-9223372036854775808,"real":1.0,"small":1e-05})");
}

TEST(CompactJson, WritesEmptyAndNested) {
  EXPECT_EQ(compact_json(Value::Map{{"a", Value::List{}}, {"b", Value::Map{}}, {"c", nullptr}, {"d", false}}),
            R"({"a":[],"b":{},"c":null,"d":false})");
}

TEST(CompactJson, EscapesWhatJsonMustAndKeepsUtf8) {
  EXPECT_EQ(compact_json(Value("a\"b\\c\n\t\r\b\f\x01\x1f/\x7f")),
            "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u001f/\x7f\"");
  EXPECT_EQ(compact_json(Value("größe 学習率 🎯")), "\"größe 学習率 🎯\"");
  EXPECT_EQ(compact_json(Value(std::string("a\0b", 3))), R"("a\u0000b")");
  EXPECT_EQ(python_json(Value("a\x7f")), R"("a\u007f")");
}

TEST(CompactJson, ReplacesBytesThatAreNotUtf8) {
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(compact_json(Value("a\xff"
                               "b")),
            "\"a" + replaced + "b\"");
  EXPECT_EQ(compact_json(Value("\xC0\xAF")), "\"" + replaced + replaced + "\"") << "an overlong slash";
  EXPECT_EQ(compact_json(Value("\xED\xA0\x80")), "\"" + replaced + replaced + replaced + "\"")
      << "a surrogate";
  EXPECT_EQ(compact_json(Value("x\xE5\xAD")), "\"x" + replaced + replaced + "\"") << "a letter cut short";
  EXPECT_EQ(compact_json(Value("\xF4\x90\x80\x80")), "\"" + replaced + replaced + replaced + replaced + "\"");
}

TEST(CompactJson, SpellsTheNonFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(compact_json(Value::List{std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}),
            R"([{"class":"nan"},{"class":"+inf"},{"class":"-inf"}])");
}

TEST(EditDistance, CountsSingleLetterEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("maxval", "maxval"), 0U);
  EXPECT_EQ(edit_distance("maxvl", "maxval"), 1U);
  EXPECT_EQ(edit_distance("maxvall", "maxval"), 1U);
  EXPECT_EQ(edit_distance("maxvel", "maxval"), 1U);
  EXPECT_EQ(edit_distance("mxaval", "maxval"), 1U) << "neighbours swapped";
  EXPECT_EQ(edit_distance("minval", "maxval"), 2U);
}

TEST(Nearest, SuggestsWhatIsCloseAndNothingElse) {
  constexpr std::array<std::string_view, 3> known = {"count", "maxval", "minval"};
  EXPECT_EQ(nearest("maxvl", known), "maxval");
  EXPECT_EQ(nearest("min_val", known), "minval");
  EXPECT_EQ(nearest("learning_rate", known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'm'), known), "");
}

TEST(Problem, ReadsAsPathThenWhatThenAllowed) {
  EXPECT_EQ(describe(Problem{"searcher.max_trials", "is -3", "an integer of at least 1"}),
            "searcher.max_trials: is -3 (an integer of at least 1)");
  EXPECT_EQ(describe(Problem{"a", "is odd", ""}), "a: is odd");
  EXPECT_EQ(describe(Problem{"", "is 3", "a map"}), "is 3 (a map)");
}

}  // namespace
}  // namespace hpsearch::engine
