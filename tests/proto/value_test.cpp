#include "hpsearch/proto/value.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "proto/arbitrary.hpp"
#include "proto/same.hpp"

namespace hpsearch::test {
namespace {

using engine::Errc;
using engine::Value;
using proto::Bytes;
using proto::decode_value;
using proto::encode_value;

RC_GTEST_PROP(EncodedValue, ComesBackAsItWas, ()) {
  const auto value = arbitrary_value(3);
  const Bytes bytes = encode_value(value);
  const auto decoded = decode_value(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(same(*decoded, value));
  RC_ASSERT(encode_value(*decoded) == bytes);
}

TEST(EncodedValue, CutAtEveryByteIsRefused) {
  const Bytes bytes = encode_value(Value::Map{{"rows", "abc"}, {"list", Value::List{1, 2.5, nullptr, true}}});
  ASSERT_TRUE(decode_value(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = decode_value(std::span(bytes).first(size));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().code, Errc::corrupt);
  }
}

TEST(EncodedValue, KeepsItsLimits) {
  const Bytes bytes = encode_value(Value::List{Value::List{std::string(100, 'x')}});
  EXPECT_TRUE(decode_value(bytes, {.bytes = bytes.size(), .depth = 2}));
  EXPECT_FALSE(decode_value(bytes, {.bytes = bytes.size() - 1, .depth = 2}));
  EXPECT_FALSE(decode_value(bytes, {.bytes = bytes.size(), .depth = 1}));
}

}  // namespace
}  // namespace hpsearch::test
