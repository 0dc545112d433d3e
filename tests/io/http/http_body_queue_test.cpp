#include "http/http_body_queue.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

namespace hpsearch::net {
namespace {

std::shared_ptr<const std::string> piece(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// All that goes to the socket until nothing more comes.
std::string sent_by(BodyQueue& queue) {
  std::string all;
  while (!queue.next().empty()) {
    all += queue.next();
    queue.sent();
  }
  return all;
}

TEST(BodyQueue, PiecesThatWaitGoInOneChunk) {
  BodyQueue queue(true);
  EXPECT_EQ(queue.next(), "");
  queue.add(piece("abc"));
  queue.add(piece(""));
  queue.add(piece("0123456789abcdef"));
  EXPECT_EQ(queue.unsent(), 19U);
  EXPECT_EQ(queue.next(), "13\r\nabc0123456789abcdef\r\n");
  queue.add(piece("d"));
  EXPECT_EQ(queue.next(), "13\r\nabc0123456789abcdef\r\n") << "what is on its way stays";
  EXPECT_EQ(queue.unsent(), 20U);
  queue.sent();
  EXPECT_EQ(queue.unsent(), 1U);
  EXPECT_EQ(sent_by(queue), "1\r\nd\r\n");
  EXPECT_FALSE(queue.finished());
}

TEST(BodyQueue, APieceThatSeveralHaveCountsInParts) {
  BodyQueue first(true);
  BodyQueue second(true);
  auto piece = std::make_shared<const std::string>(10'000, 'x');
  first.add(piece);
  second.add(std::move(piece));
  EXPECT_LT(first.held() + second.held(), 10'100U);
  EXPECT_EQ(first.unsent(), 10'000U);
}

TEST(BodyQueue, TheEndFollowsTheLastPiece) {
  BodyQueue queue(true);
  queue.add(piece("a"));
  queue.end();
  EXPECT_EQ(queue.next(), "1\r\na\r\n0\r\n\r\n");
  EXPECT_FALSE(queue.finished());
  queue.sent();
  EXPECT_TRUE(queue.finished());
  EXPECT_EQ(queue.next(), "");
}

TEST(BodyQueue, AnEndThatComesWhileTheLastPieceIsOnItsWayIsSentAlone) {
  BodyQueue queue(true);
  queue.add(piece("a"));
  EXPECT_EQ(queue.next(), "1\r\na\r\n");
  queue.end();
  queue.sent();
  EXPECT_FALSE(queue.finished());
  EXPECT_EQ(sent_by(queue), "0\r\n\r\n");
  EXPECT_TRUE(queue.finished());
}

TEST(BodyQueue, WithoutChunksABodyIsItsBytes) {
  BodyQueue queue(false);
  queue.add(piece("abc"));
  queue.add(piece("d"));
  EXPECT_EQ(sent_by(queue), "abcd");
  EXPECT_FALSE(queue.finished());
  queue.end();
  EXPECT_EQ(queue.next(), "");
  EXPECT_TRUE(queue.finished());
}

std::string unpacked(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(1'000'000, '\0');
  std::string in = packed;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(text.size() - stream.avail_out);
  inflateEnd(&stream);
  return text;
}

TEST(BodyQueue, PacksWhatItSends) {
  BodyQueue queue(false);
  queue.pack();
  std::string text;
  for (int i = 0; i < 40'000; ++i) {
    text += std::to_string(i % 1'000) + ",";
  }
  queue.add(piece(text));
  const std::string begun = sent_by(queue);
  EXPECT_LT(begun.size(), text.size() / 5);
  EXPECT_EQ(queue.unsent(), 0U);
  queue.add(piece("end"));
  queue.end();
  EXPECT_EQ(unpacked(begun + sent_by(queue)), text + "end");
  EXPECT_TRUE(queue.finished());
}

TEST(BodyQueue, PacksNothing) {
  BodyQueue queue(false);
  queue.pack();
  queue.end();
  EXPECT_EQ(unpacked(sent_by(queue)), "");
}

TEST(BodyQueue, ALongPieceIsSentInParts) {
  BodyQueue queue(false);
  std::string text;
  for (int i = 0; i < 40'000; ++i) {
    text += std::to_string(i) + " ";
  }
  queue.add(piece(text));
  queue.add(piece("end"));
  std::string all;
  while (!queue.next().empty()) {
    EXPECT_LE(queue.next().size(), BodyQueue::most_bytes_at_once);
    all += queue.next();
    queue.sent();
    EXPECT_EQ(queue.unsent(), text.size() + 3 - all.size());
  }
  EXPECT_EQ(all, text + "end");
}

}  // namespace
}  // namespace hpsearch::net
