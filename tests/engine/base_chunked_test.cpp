#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hpsearch/engine/base/box.hpp"
#include "hpsearch/engine/base/chunked.hpp"

namespace hpsearch::engine {
namespace {

TEST(Chunked, ReadsAsTheVectorItStandsFor) {
  Chunked<std::string, 4> chunked;
  std::vector<std::string> plain;
  EXPECT_TRUE(chunked.empty());
  for (int i = 0; i < 21; ++i) {
    plain.push_back(std::to_string(i));
    EXPECT_EQ(chunked.push_back(std::to_string(i)), plain.back());
    EXPECT_EQ(chunked.size(), plain.size());
    EXPECT_EQ(chunked.back(), plain.back());
    EXPECT_EQ(std::vector<std::string>(chunked.begin(), chunked.end()), plain);
  }
  chunked[13] = "changed";
  EXPECT_EQ(chunked[13], "changed");
  EXPECT_EQ(chunked[12], "12");
  chunked.clear();
  EXPECT_TRUE(chunked.empty());
  EXPECT_EQ(chunked.begin(), chunked.end());
}

TEST(Chunked, LaterChunksNeverMove) {
  Chunked<int, 4> chunked;
  for (int i = 0; i < 5; ++i) {
    chunked.push_back(i);
  }
  const int* fifth = &chunked[4];
  for (int i = 5; i < 1000; ++i) {
    chunked.push_back(i);
  }
  EXPECT_EQ(&chunked[4], fifth);
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
