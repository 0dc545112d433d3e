#include "hpsearch/proto/encoding/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "hpsearch/engine/base/text.hpp"
#include "proto/arbitrary.hpp"
#include "proto/same.hpp"

namespace hpsearch::test {
namespace {

using engine::Errc;
using engine::Value;
using proto::JsonLimits;
using proto::NonFinite;
using proto::parse_json;
using proto::pretty_json;
using proto::real_of;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string error_of(const std::string& text, const JsonLimits& limits = {}) {
  const auto parsed = parse_json(text, limits);
  if (parsed) {
    return "it was read";
  }
  EXPECT_EQ(parsed.error().code, Errc::corrupt);
  return parsed.error().message;
}

RC_GTEST_PROP(Json, CompactTextReadsBack, ()) {
  const auto value = arbitrary<Value>();
  const auto parsed = parse_json(engine::compact_json(value), {}, NonFinite::reals);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(same(*parsed, value));
}

RC_GTEST_PROP(Json, PrettyTextReadsBack, ()) {
  const auto value = arbitrary<Value>();
  const auto parsed = parse_json(pretty_json(value), {}, NonFinite::reals);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(same(*parsed, value));
}

TEST(Json, ReadsEveryKind) {
  const auto parsed = parse_json(" {\"b\": [1, -2.5, true, null, \"x\\u00e9\\n\"], \"a\": {}} ");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed,
            Value(Value::Map{{"a", Value::Map{}}, {"b", Value::List{1, -2.5, true, Value{}, "xé\n"}}}));
}

TEST(Json, IntegersAndRealsKeepTheirKind) {
  const auto parsed = parse_json("[64, 64.0, 6e1, -0.0, 9223372036854775807, -9223372036854775808]");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(same(*parsed, Value(Value::List{64, 64.0, 60.0, -0.0, std::numeric_limits<std::int64_t>::max(),
                                              std::numeric_limits<std::int64_t>::min()})));
}

TEST(Json, ClassesAreRealsInMetrics) {
  const auto parsed =
      parse_json(R"([{"class":"nan"},{"class":"+inf"},{"class":"-inf"}])", {}, NonFinite::reals);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(same(*parsed, Value(Value::List{nan, infinity, -infinity})));
}

TEST(Json, ClassesInUsersValuesStayMaps) {
  for (const char* text :
       {R"({"class":"nan"})", R"({"class":"+inf"})", R"({"class":"-inf"})", R"({"data":{"class":"nan"}})",
        R"([{"class":"nan"},"nan","inf","-inf",".nan",".inf","NaN","Infinity","yes","no","null","1e999"])"}) {
    const auto parsed = parse_json(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(engine::compact_json(*parsed), text);
    EXPECT_TRUE(parsed->as_map() != nullptr || parsed->as_list() != nullptr) << text;
  }
  const auto map = parse_json(R"({"class":"nan"})");
  ASSERT_NE(map->as_map(), nullptr);
  EXPECT_EQ(*map, Value(Value::Map{{"class", "nan"}}));
}

TEST(Json, RealOfReadsNumbersAndClasses) {
  EXPECT_EQ(real_of(Value(2)), 2.0);
  EXPECT_EQ(real_of(Value(0.5)), 0.5);
  EXPECT_EQ(real_of(Value(Value::Map{{"class", "-inf"}})), -infinity);
  EXPECT_TRUE(std::isnan(real_of(Value(Value::Map{{"class", "nan"}})).value_or(0)));
  for (const Value& other : {Value("nan"), Value(), Value(true), Value(Value::Map{{"class", "cat"}})}) {
    EXPECT_EQ(real_of(other), std::nullopt);
  }
}

TEST(Json, OtherMapsWithAClassStayMaps) {
  const auto parsed =
      parse_json(R"([{"class":"cat"},{"class":"nan","x":1},{"class":1}])", {}, NonFinite::reals);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, Value(Value::List{Value::Map{{"class", "cat"}}, Value::Map{{"class", "nan"}, {"x", 1}},
                                       Value::Map{{"class", 1}}}));
}

TEST(Json, ErrorsBeginWithLineAndColumn) {
  EXPECT_EQ(error_of("{\n  \"lr\": 1,\n  \"lr\": 2\n}"), "3:6: the key \"lr\" stands twice");
  EXPECT_EQ(error_of(R"({"b": 1, "a": 2, "b": 3})"), "1:20: the key \"b\" stands twice");
  EXPECT_EQ(error_of(R"({"a": 1, "c": 2, "b": 3, "b": 4})"), "1:28: the key \"b\" stands twice");
  EXPECT_EQ(error_of("[1,\n 12345678901234567890]"),
            "2:22: the integer 12345678901234567890 is out of range (at most 9223372036854775807)");
  EXPECT_EQ(error_of("[true,\nfalsch]").substr(0, 4), "2:5:");
  EXPECT_EQ(error_of("").substr(0, 4), "1:1:");
  EXPECT_EQ(error_of("{} {}").substr(0, 4), "1:4:");
}

TEST(Json, HostileTextsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"nothing", ""},
      {"white space only", " \n\t"},
      {"a comment", "/* x */ 1"},
      {"a trailing comma in a list", "[1,]"},
      {"a trailing comma in an object", "{\"a\":1,}"},
      {"a missing comma", "[1 2]"},
      {"a missing colon", "{\"a\" 1}"},
      {"a key without quotes", "{a:1}"},
      {"single quotes", "['a']"},
      {"two values", "1 2"},
      {"an open list", "[1"},
      {"an open text", "\"abc"},
      {"a control character in a text", "\"a\nb\""},
      {"an unknown escape", R"("\q")"},
      {"half a surrogate pair", R"("\ud800")"},
      {"the wrong half of a pair", R"("\udc00")"},
      {"a broken escape", R"("\u12G4")"},
      {"invalid UTF-8", "\"\xC3\x28\""},
      {"overlong UTF-8", "\"\xC0\x80\""},
      {"a surrogate in UTF-8", "\"\xED\xA0\x80\""},
      {"invalid UTF-8 outside texts", "\xFF"},
      {"half a byte order mark", "\xEF\xBB 1"},
      {"a NUL byte", std::string("1\0", 2)},
      {"a leading zero", "01"},
      {"a leading plus", "+1"},
      {"a bare point", "1."},
      {"hexadecimal", "0x10"},
      {"a real past the range", "1e999"},
      {"a negative real past the range", "-1e999"},
      {"an integer past 63 bits", "9223372036854775808"},
      {"an integer past 64 bits", "18446744073709551616"},
      {"a negative integer past 64 bits", "-9223372036854775809"},
      {"an integer of 400 digits", std::string(400, '9')},
      {"NaN", "NaN"},
      {"Infinity", "-Infinity"},
      {"a key twice", R"({"a":1,"b":2,"a":3})"},
      {"a key twice, once escaped", R"({"a":1,"\u0061":3})"},
      {"a key twice, far inside", R"([{"x":{"a":1,"a":1}}])"},
  };
  for (const auto& [what, text] : table) {
    const std::string message = error_of(text);
    EXPECT_NE(message, "it was read") << what;
    EXPECT_NE(message.find(": "), std::string::npos) << what;
  }
}

TEST(Json, DepthIsLimited) {
  const JsonLimits limits{.depth = 3};
  EXPECT_TRUE(parse_json("[[[1]]]", limits));
  EXPECT_EQ(error_of("[[[[1]]]]", limits), "1:4: more than 3 lists and objects within each other");
  EXPECT_NE(error_of(std::string(500'000, '[')), "it was read");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) {
    objects += "{\"\":";
  }
  EXPECT_NE(error_of(objects), "it was read");
}

TEST(Json, NodesAreLimited) {
  const JsonLimits limits{.nodes = 4};
  EXPECT_TRUE(parse_json("[1,2,3]", limits));
  EXPECT_EQ(error_of("[1,2,3,4]", limits), "1:9: more than 4 values");
}

TEST(Json, BytesAreLimited) {
  const JsonLimits limits{.bytes = 4};
  EXPECT_TRUE(parse_json("1234", limits));
  EXPECT_EQ(error_of("12345", limits), "1:1: JSON of 5 bytes (at most 4 are read)");
}

TEST(Json, CutTextIsAnError) {
  const std::string text = R"({"a":[1,-2.5e3,true,null,{"class":"nan"}],"b":"é\u00e9\\"})";
  ASSERT_TRUE(parse_json(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_json(text.substr(0, size))) << size;
  }
}

TEST(Json, MessagesAreShortAndValidText) {
  const std::string message = error_of("\"" + std::string(100'000, 'x') + "\xFF\"");
  EXPECT_LT(message.size(), 300U);
  EXPECT_EQ(message.find('\xFF'), std::string::npos);
}

TEST(Json, ManyUnorderedKeysTakeLittleTime) {
  std::string text = "{";
  for (int i = 30'000; i > 0; --i) {
    text += "\"" + std::to_string(i * 7919 % 30'001) + "\":0" + (i > 1 ? "," : "}");
  }
  const auto parsed = parse_json(text, {.bytes = text.size()});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->as_map()->size(), 30'000U);
}

TEST(Json, PrettyTextIsIndentedByTwo) {
  EXPECT_EQ(pretty_json(Value::Map{
                {"a", Value::List{1, Value::Map{}}}, {"b", Value::Map{{"c", nan}}}, {"d", Value::List{}}}),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n    \"c\": {\"class\":\"nan\"}\n  },\n  \"d\": "
            "[]\n}");
}

}  // namespace
}  // namespace hpsearch::test
