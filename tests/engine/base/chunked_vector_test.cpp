#include "hpsearch/engine/base/chunked_vector.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hpsearch/engine/base/box.hpp"

namespace hpsearch::engine {
namespace {

TEST(ChunkedVector, ReadsAsTheVectorItStandsFor) {
  ChunkedVector<std::string> chunked;
  std::vector<std::string> plain;
  EXPECT_TRUE(chunked.empty());
  const auto chunk = static_cast<int>(ChunkedVector<std::string>::chunk);
  for (int i = 0; i < 2 * chunk + 3; ++i) {
    plain.push_back(std::to_string(i));
    EXPECT_EQ(chunked.push_back(std::to_string(i)), plain.back());
    EXPECT_EQ(chunked.size(), plain.size());
    EXPECT_EQ(chunked.back(), plain.back());
  }
  EXPECT_EQ(std::vector<std::string>(chunked.begin(), chunked.end()), plain);
  chunked[13] = "changed";
  EXPECT_EQ(chunked[13], "changed");
  EXPECT_EQ(chunked[12], "12");
  chunked.clear();
  EXPECT_TRUE(chunked.empty());
  EXPECT_EQ(chunked.begin(), chunked.end());
}

TEST(ChunkedVector, LaterChunksNeverMove) {
  ChunkedVector<int> chunked;
  constexpr std::size_t chunk = ChunkedVector<int>::chunk;
  for (std::size_t i = 0; i <= chunk; ++i) {
    chunked.push_back(1);
  }
  const int* first_of_the_second = &chunked[chunk];
  for (std::size_t i = 0; i < 5 * chunk; ++i) {
    chunked.push_back(2);
  }
  EXPECT_EQ(&chunked[chunk], first_of_the_second);
}

TEST(Box, CopiesDeep) {
  Box<std::string> box;
  EXPECT_FALSE(box.has_value());
  box.ensure() += "text";
  Box<std::string> copy = box;
  *copy += "!";
  EXPECT_EQ(*box, "text");
  EXPECT_EQ(*copy, "text!");
  box = copy;
  copy.reset();
  EXPECT_FALSE(copy);
  EXPECT_EQ(box->size(), 5U);
}

}  // namespace
}  // namespace hpsearch::engine
