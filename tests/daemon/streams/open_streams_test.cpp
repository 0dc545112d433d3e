#include "daemon/streams/open_streams.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/manual_timeline.hpp"

namespace hpsearch::daemon {
namespace {

/// A reader that reads nothing.
class UnreadBody final : public net::HttpBody {
 public:
  void write(std::shared_ptr<const std::string> piece) override { pieces_.push_back(std::move(piece)); }
  [[nodiscard]] std::size_t unsent() const noexcept override {
    std::size_t bytes = 0;
    for (const auto& piece : pieces_) {
      bytes += piece->size();
    }
    return bytes;
  }
  void on_drained(std::function<void()>) override {}
  void on_closed(std::function<void()>) override {}
  void end() override { open_ = false; }
  void cut() override {
    open_ = false;
    pieces_.clear();
  }
  [[nodiscard]] bool is_open() const noexcept override { return open_; }

 private:
  std::vector<std::shared_ptr<const std::string>> pieces_;
  bool open_ = true;
};

// A thousand subscribers that read nothing used 400 MiB.
TEST(OpenStreams, SlowestReadersAreCutWhenAllExceedTheLimit) {
  ManualTimeline loop;
  OpenStreams streams(loop, [](const net::HttpRequest&) { return true; });
  std::vector<std::shared_ptr<UnreadBody>> bodies;
  const auto open = [&](std::size_t bytes) {
    auto body = std::make_shared<UnreadBody>();
    streams.open({}, [](const std::shared_ptr<net::HttpBody>&) {}).stream(body);
    body->write(std::make_shared<const std::string>(bytes, 'x'));
    bodies.push_back(std::move(body));
  };
  for (int i = 0; i < 1'000; ++i) {
    open(i < 500 ? 200'000 : 1'000);
    loop.tick();
    std::size_t held = 0;
    for (const auto& body : bodies) {
      held += body->held_bytes();
    }
    EXPECT_LE(held, OpenStreams::most_held_bytes) << i;
  }
  for (std::size_t i = 500; i < bodies.size(); ++i) {
    EXPECT_TRUE(bodies[i]->is_open()) << "it leaves little unread";
  }
}

}  // namespace
}  // namespace hpsearch::daemon
