#include "encoding/crc32c.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::test {
namespace {

std::uint32_t crc_of(const std::string& text, std::uint32_t seed = 0) {
  return proto::crc32c(seed, std::as_bytes(std::span(text)));
}

TEST(Crc32c, KnownAnswers) {  // RFC 3720, appendix B.4, and the polynomial's check value.
  EXPECT_EQ(crc_of(""), 0U);
  EXPECT_EQ(crc_of("123456789"), 0xE3069283U);
  EXPECT_EQ(crc_of(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc_of(std::string(32, '\xFF')), 0x62A8AB43U);
  std::string ascending;
  for (char c = 0; c < 32; ++c) {
    ascending += c;
  }
  EXPECT_EQ(crc_of(ascending), 0x46DD794EU);
}

// Compares the instruction with the table, for every length and every alignment.
TEST(Crc32c, IsTheSameWithAndWithoutTheInstruction) {
  std::string text;
  for (std::uint32_t i = 0; i < 80; ++i) {
    text += static_cast<char>(i * i * 31 + 7);
  }
  for (std::size_t from = 0; from < 8; ++from) {
    for (std::size_t size = 0; from + size <= text.size(); ++size) {
      const auto bytes = std::as_bytes(std::span(text)).subspan(from, size);
      const auto seed = static_cast<std::uint32_t>(0x9E3779B9U * size);
      EXPECT_EQ(proto::crc32c(seed, bytes), proto::crc32c_by_table(seed, bytes)) << from << " " << size;
    }
  }
}

TEST(Crc32c, ContinuesWhereItStopped) {
  const std::string text = "what is chained in two pieces is chained in one";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc_of(text.substr(cut), crc_of(text.substr(0, cut))), crc_of(text)) << cut;
  }
}

TEST(Crc32c, DetectsEveryFlippedBit) {
  const std::string text = "nineteen characters";
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(crc_of(flipped), crc_of(text)) << bit;
  }
}

}  // namespace
}  // namespace hpsearch::test
