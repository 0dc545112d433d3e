#include "daemon/access/busy_connections.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace hpsearch::daemon {
namespace {

TEST(BusyConnections, OfATokenAreAHundredAndTwentyEight) {
  BusyConnections connections;
  std::vector<std::shared_ptr<const void>> taken;
  for (std::size_t i = 0; i < 128; ++i) {
    taken.push_back(connections.take("a"));
    ASSERT_NE(taken.back(), nullptr) << i;
  }
  EXPECT_EQ(connections.take("a"), nullptr);
  EXPECT_NE(connections.take("b"), nullptr) << "each token has its own";
  EXPECT_EQ(connections.count("b"), 0U);
  taken.pop_back();
  EXPECT_NE(connections.take("a"), nullptr);
  taken.clear();
  EXPECT_EQ(connections.count("a"), 0U);
}

TEST(BusyConnections, OneThatOutlivesThemDoesNoHarm) {
  std::shared_ptr<const void> taken;
  {
    BusyConnections connections;
    taken = connections.take("a");
  }
  taken.reset();
}

/// Nobody reads it.
class NoBody : public net::HttpBody {
 public:
  void write(std::shared_ptr<const std::string>) override {}
  [[nodiscard]] std::size_t unsent() const noexcept override { return 0; }
  void on_drained(std::function<void()>) override {}
  void on_closed(std::function<void()>) override {}
  void end() override {}
  void cut() override {}
  [[nodiscard]] bool is_open() const noexcept override { return true; }
};

TEST(BusyConnections, AStreamKeepsItsOneToItsEnd) {
  BusyConnections connections;
  std::shared_ptr<net::HttpBody> body;
  net::HttpResponse response;
  response.stream = [&](std::shared_ptr<net::HttpBody> given) { body = std::move(given); };
  hold_while_it_is_sent(connections.take("a"), response);
  response.stream(std::make_shared<NoBody>());
  response = {};
  EXPECT_EQ(connections.count("a"), 1U);
  body.reset();
  EXPECT_EQ(connections.count("a"), 0U);
}

}  // namespace
}  // namespace hpsearch::daemon
