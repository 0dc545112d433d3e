#include "hpsearch/workers/shell/shim/shim_messages.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hpsearch::workers {
namespace {

TEST(ShimMessages, AreSplitIndependentlyOfThePieces) {
  const std::string stream = framed(ToShim(AnswerQuestion{7, "a\n\"b"})) + framed(ToShim(SendSignal{2})) +
                             framed(ToShim(DropJournal{1'000}));
  MessageReader<ToShim> reader;
  std::vector<ToShim> all;
  for (const char byte : stream) {
    EXPECT_GT(reader.missing(), 0U);
    const auto messages = reader.feed({&byte, 1});
    ASSERT_TRUE(messages);
    all.insert(all.end(), messages->begin(), messages->end());
  }
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(std::get<AnswerQuestion>(all[0]).line, "a\n\"b");
  EXPECT_TRUE(std::get<SendSignal>(all[1]).which == 2);
  EXPECT_EQ(std::get<DropJournal>(all[2]).before, 1'000U);
  EXPECT_EQ(MessageReader<ToShim>().feed(stream)->size(), 3U);
}

TEST(ShimMessages, OtherStreamIsRejected) {
  EXPECT_FALSE(MessageReader<ToAgent>().feed("signal KILL, signal KILL"));
  EXPECT_FALSE(MessageReader<ToAgent>().feed(framed(ToShim(SendSignal{2})))) << "the other side's";
}

}  // namespace
}  // namespace hpsearch::workers
