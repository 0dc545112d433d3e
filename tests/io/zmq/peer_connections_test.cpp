#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/io/zmq/curve.hpp"
#include "hpsearch/io/zmq/zmq_port.hpp"
#include "io/zmq/raw_zmtp.hpp"
#include "scratch.hpp"

// What strangers and friends may make a ROUTER hold. See docs/operating/security.md.

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t frame_bytes = 64UL * 1024;

class PeerConnections : public testing::Test {
 protected:
  explicit PeerConnections(std::optional<CurveServer> curve = {}) {
    auto bound = RouterPort::bind(
        loop_, "tcp://127.0.0.1:0", frame_bytes,
        [this](const Peer&, auto frame) {
          heard_.emplace_back(reinterpret_cast<const char*>(frame.data()), frame.size());
        },
        std::move(curve));
    EXPECT_TRUE(bound) << bound.error().message;
    router_ = std::move(bound).value();
  }

  void pump_until(const std::function<bool()>& done, std::chrono::milliseconds patience = 30s) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    const Watch look = loop_.every(1ms, [&] {
      if (done() || std::chrono::steady_clock::now() > limit) {
        loop_.stop();
      }
    });
    loop_.run();
  }

  Loop loop_;
  std::vector<std::string> heard_;
  std::unique_ptr<RouterPort> router_;
};

TEST_F(PeerConnections, AMessageThatDoesNotEndIsCutOff) {
  RawZmtp peer(router_->endpoint());
  peer.greet_as_dealer();
  ASSERT_TRUE(peer.send(RawZmtp::frame(RawZmtp::Part::last, "hello")));
  pump_until([&] { return !heard_.empty(); });
  // Four frames of the largest size, and no end.
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(peer.send(RawZmtp::frame(RawZmtp::Part::more, std::string(frame_bytes, 'x'))));
  }
  pump_until([&] { return peer.ended(); });
  EXPECT_TRUE(peer.ended());
  EXPECT_EQ(heard_, std::vector<std::string>{"hello"});
}

TEST_F(PeerConnections, EmptyPartsWithoutEndAreCutOffToo) {
  RawZmtp peer(router_->endpoint());
  peer.greet_as_dealer();
  std::string parts;
  while (parts.size() < 4 * frame_bytes) {
    parts.append("\x01\x00", 2);
  }
  ASSERT_TRUE(peer.send(parts));
  pump_until([&] { return peer.ended(); });
  EXPECT_TRUE(peer.ended());
}

TEST_F(PeerConnections, APeerThatSendsSeveralPartsIsClosedAtTheFirstMessage) {
  RawZmtp peer(router_->endpoint());
  peer.greet_as_dealer();
  ASSERT_TRUE(
      peer.send(RawZmtp::frame(RawZmtp::Part::more, "one") + RawZmtp::frame(RawZmtp::Part::last, "two")));
  pump_until([&] { return peer.ended(); });
  EXPECT_TRUE(peer.ended());
  EXPECT_TRUE(heard_.empty());
}

TEST_F(PeerConnections, AFrameMayComeSlowly) {
  RawZmtp peer(router_->endpoint());
  peer.greet_as_dealer();
  const std::string body(frame_bytes, 'x');
  ASSERT_TRUE(peer.send(RawZmtp::frame(RawZmtp::Part::last, body.substr(0, frame_bytes - 1), frame_bytes)));
  pump_until([] { return false; }, 500ms);  // Several looks.
  EXPECT_FALSE(peer.ended());
  ASSERT_TRUE(peer.send("x"));
  pump_until([&] { return !heard_.empty(); });
  EXPECT_EQ(heard_, std::vector<std::string>{body});
}

TEST_F(PeerConnections, ManyWholeMessagesAreNoLongOne) {
  RawZmtp peer(router_->endpoint());
  peer.greet_as_dealer();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(peer.send(RawZmtp::frame(RawZmtp::Part::last, std::string(frame_bytes, 'x'))));
    pump_until([&] { return heard_.size() > static_cast<std::size_t>(i); });
  }
  EXPECT_EQ(heard_.size(), 40U);
  EXPECT_FALSE(peer.ended());
}

class PeerConnectionsWithKeys : public PeerConnections {
 protected:
  PeerConnectionsWithKeys()
      : PeerConnections(CurveServer{new_keys(), [](const std::string&) { return false; }}) {}

  static CurveKeys new_keys() {
    const Scratch folder;
    auto keys = curve_keys_in(folder.path().string());
    EXPECT_TRUE(keys) << keys.error().message;
    return *keys;
  }
};

TEST_F(PeerConnectionsWithKeys, AStrangerMaySendAFewKibibytes) {
  RawZmtp few(router_->endpoint());
  few.greet("CURVE");
  ASSERT_TRUE(few.send(std::string("\x06", 1) +
                       RawZmtp::frame(RawZmtp::Part::more, "", frame_bytes).substr(1) +
                       std::string(4'096, 'x')));
  RawZmtp many(router_->endpoint());
  many.greet("CURVE");
  ASSERT_TRUE(many.send(std::string("\x06", 1) +
                        RawZmtp::frame(RawZmtp::Part::more, "", frame_bytes).substr(1) +
                        std::string(20'000, 'x')));
  pump_until([&] { return many.ended(); });
  EXPECT_TRUE(many.ended());
  EXPECT_FALSE(few.ended());
}

}  // namespace
}  // namespace hpsearch::net
