#include "hpsearch/io/files/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hpsearch::files {
namespace {

TEST(Sha256, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameDigest) {
  const std::string text = [] {
    std::string made;
    for (int i = 0; i < 1'000; ++i) {
      made.push_back(static_cast<char>(i * 7));
    }
    return made;
  }();
  for (std::size_t length = 0; length <= 300;
       ++length) {  // Around every boundary of a block and of its padding.
    Sha256 pieces;
    for (std::size_t at = 0; at < length; at += 1 + at % 5) {
      pieces.update(std::string_view(text).substr(at, std::min(length - at, 1 + at % 5)));
    }
    ASSERT_EQ(pieces.hex(), sha256_of(std::string_view(text).substr(0, length))) << length << " bytes";
  }
}

TEST(Sha256, OnlyItsOwnSpellingIsADigest) {
  EXPECT_TRUE(is_sha256(sha256_of("x")));
  EXPECT_FALSE(is_sha256(""));
  EXPECT_FALSE(is_sha256(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256(std::string(63, 'a')));
  EXPECT_FALSE(is_sha256(std::string(62, 'a') + "/."));
}

}  // namespace
}  // namespace hpsearch::files
