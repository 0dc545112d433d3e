#include "hpsearch/workers/core/checked_record.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::workers {
namespace {

using namespace std::string_view_literals;

/// The body of the one record that these bytes are.
std::optional<std::string_view> body_of(std::string_view bytes) {
  const auto head = read_checked_head(bytes);
  const std::string_view body = head ? bytes.substr(checked_head_bytes) : std::string_view();
  return head && head->fits(body) ? std::optional(body) : std::nullopt;
}

TEST(CheckedRecord, IsLengthChecksumAndBody) {
  // The check value of CRC-32C.
  EXPECT_EQ(checked_record("123456789"), "\x09\0\0\0\x83\x92\x06\xE3\x31\x32\x33\x34\x35\x36\x37\x38\x39"sv);
  EXPECT_EQ(body_of(checked_record("123456789")), "123456789"sv);
}

TEST(CheckedRecord, IsNotReadWhenItWasCutOrChanged) {
  const std::string whole = checked_record(std::string("some\0body", 9));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    EXPECT_FALSE(body_of(std::string_view(whole).substr(0, at))) << at;
    for (int bits = 1; bits < 256; ++bits) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ bits);
      EXPECT_FALSE(body_of(changed)) << at << " ^ " << bits;
    }
  }
}

TEST(CheckedRecord, IsNotSpaceThatWasNeverWritten) {
  EXPECT_FALSE(read_checked_head(std::string(64, '\0')));
}

}  // namespace
}  // namespace hpsearch::workers
