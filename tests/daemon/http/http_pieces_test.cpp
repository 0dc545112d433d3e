#include "daemon/http/http_pieces.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace hpsearch::daemon {
namespace {

/// Its reader reads its content when the test says so.
class SlowBody : public net::HttpBody {
 public:
  void write(std::shared_ptr<const std::string> piece) override {
    text += *piece;
    unsent_ += piece->size();
  }
  [[nodiscard]] std::size_t unsent() const noexcept override { return unsent_; }
  void on_drained(std::function<void()> task) override { drained_ = std::move(task); }
  void on_closed(std::function<void()> task) override { closed_ = std::move(task); }
  void end() override { end_of_it = "ended"; }
  void cut() override { end_of_it = "cut"; }
  [[nodiscard]] bool is_open() const noexcept override { return end_of_it.empty(); }

  void is_read() {
    unsent_ = 0;
    drained_();
  }
  void is_left() {
    end_of_it = "left";
    closed_();
  }

  std::string text;
  std::string end_of_it;

 private:
  std::size_t unsent_ = 0;
  std::function<void()> drained_;
  std::function<void()> closed_;
};

TEST(BodyInPieces, EndsAfterTheLastPiece) {
  const auto body = std::make_shared<SlowBody>();
  int made = 0;
  send_in_pieces(body, [&](const TakePiece& take) {
    ++made;
    take(BodyPiece{std::to_string(made), made == 3});
  });
  EXPECT_EQ(body->text, "123");
  EXPECT_EQ(body->end_of_it, "ended");
}

TEST(BodyInPieces, IsCutOffIfAPieceCannotBeMade) {
  const auto body = std::make_shared<SlowBody>();
  int made = 0;
  send_in_pieces(body, [&](const TakePiece& take) {
    take(++made == 1 ? std::optional(BodyPiece{"begin", false}) : std::nullopt);
  });
  EXPECT_EQ(body->text, "begin");
  EXPECT_EQ(body->end_of_it, "cut") << "who reads it must not take it for the whole";
}

TEST(BodyInPieces, WaitsForItsReader) {
  constexpr std::size_t piece = std::size_t{400} * 1024;
  const auto body = std::make_shared<SlowBody>();
  int made = 0;
  send_in_pieces(body, [&](const TakePiece& take) {
    ++made;
    take(BodyPiece{std::string(piece, 'x'), made == 10});
  });
  EXPECT_EQ(made, 3) << "more than a megabyte waits";
  body->is_read();
  EXPECT_EQ(made, 6);
  while (body->is_open() && made < 20) {
    body->is_read();
  }
  EXPECT_EQ(made, 10);
  EXPECT_EQ(body->text.size(), 10 * piece);
  EXPECT_EQ(body->end_of_it, "ended");
}

TEST(BodyInPieces, PiecesAreNotMadeForAReaderThatDisconnected) {
  const auto body = std::make_shared<SlowBody>();
  int made = 0;
  TakePiece later;
  send_in_pieces(body, [&](TakePiece take) {
    ++made;
    later = std::move(take);
  });
  body->is_left();
  later(BodyPiece{"late", false});
  EXPECT_EQ(made, 1);
  EXPECT_EQ(body->text, "");
}

}  // namespace
}  // namespace hpsearch::daemon
