#include "hpsearch/io/http/event_stream.hpp"

#include <gtest/gtest.h>

namespace hpsearch::net {
namespace {

std::string listed(const std::vector<StreamMessage>& messages) {
  std::string text;
  for (const StreamMessage& message : messages) {
    text += "[" + message.id + "|" + message.event + "|" + message.data + "]";
  }
  return text;
}

TEST(EventStream, AMessageIsReadAsItWasWritten) {
  const std::string text = message_text("7", "trial_created", R"({"lsn":7})") + message_text("8", "", "") +
                           message_text("", "bye", "a\nb") + message_text("", "", "plain");
  StreamParser parser;
  EXPECT_EQ(listed(parser.take(text)), R"([7|trial_created|{"lsn":7}][8||][|bye|a
b][||plain])");
}

TEST(EventStream, PiecesMayEndAnywhere) {
  const std::string text =
      ":comment\n\nretry: 1000\n\n" + message_text("7", "one", "x") + "id:8\r\ndata:y\r\n\r\n";
  for (std::size_t size = 1; size < text.size(); ++size) {
    StreamParser parser;
    std::string all;
    for (std::size_t at = 0; at < text.size(); at += size) {
      all += listed(parser.take(std::string_view(text).substr(at, size)));
    }
    EXPECT_EQ(all, "[7|one|x][8||y]") << size;
  }
}

TEST(EventStream, AMessageThatIsNotCompleteIsNotTaken) {
  StreamParser parser;
  EXPECT_EQ(listed(parser.take("id: 7\ndata: x\n")), "");
  EXPECT_EQ(listed(parser.take("\n")), "[7||x]");
}

}  // namespace
}  // namespace hpsearch::net
