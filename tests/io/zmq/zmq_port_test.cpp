#include "hpsearch/io/zmq/zmq_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <zmq.hpp>

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;

std::vector<std::byte> bytes(std::string_view text) {
  std::vector<std::byte> result(text.size());
  std::transform(text.begin(), text.end(), result.begin(), [](char c) { return static_cast<std::byte>(c); });
  return result;
}

std::string text(std::span<const std::byte> frame) {
  std::string result(frame.size(), '\0');
  std::transform(frame.begin(), frame.end(), result.begin(),
                 [](std::byte b) { return static_cast<char>(b); });
  return result;
}

/// Sends as soon as the connection takes it.
void send_when_possible(Loop& loop, DealerPort& dealer, std::string frame) {
  if (!dealer.send(bytes(frame))) {
    auto retry = std::make_shared<Watch>();
    *retry = loop.after(1ms, [&loop, &dealer, frame = std::move(frame), retry]() mutable {
      const auto kept = std::move(*retry);
      send_when_possible(loop, dealer, std::move(frame));
    });
  }
}

/// Stops the loop and fails the test when it has not come to an end by itself.
Watch deadline(Loop& loop) {
  return loop.after(60s, [&loop] {
    ADD_FAILURE() << "the loop did not end in time";
    loop.stop();
  });
}

TEST(ZmqPort, QuestionAndAnswerCross) {
  Loop loop;
  const Watch limit = deadline(loop);
  std::unique_ptr<RouterPort> router;
  auto bound = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer& peer, auto frame) {
    EXPECT_TRUE(router->send(peer, bytes("answer to " + text(frame))));
  });
  ASSERT_TRUE(bound);
  router = std::move(bound).value();
  std::string answer;
  auto connected = DealerPort::connect(loop, router->endpoint(), 1024, [&](auto frame) {
    answer = text(frame);
    loop.stop();
  });
  ASSERT_TRUE(connected);
  send_when_possible(loop, **connected, "question");
  loop.run();
  EXPECT_EQ(answer, "answer to question");
}

TEST(ZmqPort, TwentyThousandMessagesFromAnotherThreadAllArriveInOrder) {
  constexpr int count = 20'000;
  Loop loop;
  const Watch limit = deadline(loop);
  int next = 0;
  auto router = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer&, auto frame) {
    EXPECT_EQ(text(frame), std::to_string(next));
    if (++next == count) {
      loop.stop();
    }
  });
  ASSERT_TRUE(router);
  std::thread sender([endpoint = (*router)->endpoint()] {
    zmq::context_t context;
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.connect(endpoint);
    for (int i = 0; i < count; ++i) {
      socket.send(zmq::buffer(std::to_string(i)), zmq::send_flags::none);
    }
  });
  loop.run();
  sender.join();
  EXPECT_EQ(next, count);
}

TEST(ZmqPort, TwentyThousandRoundTripsNeverStall) {
  // Sends and receives alternate on both sockets: a hint swallowed by a send would leave one side asleep.
  constexpr int count = 20'000;
  Loop loop;
  const Watch limit = deadline(loop);
  std::unique_ptr<RouterPort> router;
  auto bound = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer& peer, auto frame) {
    EXPECT_TRUE(router->send(peer, frame));
  });
  ASSERT_TRUE(bound);
  router = std::move(bound).value();
  int sent = 0;
  int received = 0;
  std::unique_ptr<DealerPort> dealer;
  const auto send_some = [&] {
    while (sent < count && sent - received < 64 && dealer->send(bytes(std::to_string(sent)))) {
      ++sent;
    }
  };
  auto connected = DealerPort::connect(loop, router->endpoint(), 1024, [&](auto frame) {
    EXPECT_EQ(text(frame), std::to_string(received));
    if (++received == count) {
      loop.stop();
    }
    send_some();
  });
  ASSERT_TRUE(connected);
  dealer = std::move(connected).value();
  const Watch start = loop.every(5ms, send_some);
  loop.run();
  EXPECT_EQ(received, count);
}

TEST(ZmqPort, PeersAreDistinguished) {
  Loop loop;
  const Watch limit = deadline(loop);
  std::unique_ptr<RouterPort> router;
  std::set<Peer> peers;
  auto bound = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer& peer, auto frame) {
    peers.insert(peer);
    EXPECT_TRUE(router->send(peer, frame));
  });
  ASSERT_TRUE(bound);
  router = std::move(bound).value();
  int answers = 0;
  std::vector<std::unique_ptr<DealerPort>> dealers;
  for (int i = 0; i < 10; ++i) {
    auto dealer = DealerPort::connect(loop, router->endpoint(), 1024, [&, i](auto frame) {
      EXPECT_EQ(text(frame), "worker " + std::to_string(i));
      if (++answers == 10) {
        loop.stop();
      }
    });
    ASSERT_TRUE(dealer);
    dealers.push_back(std::move(dealer).value());
    send_when_possible(loop, *dealers.back(), "worker " + std::to_string(i));
  }
  loop.run();
  EXPECT_EQ(peers.size(), 10U);
}

TEST(ZmqPort, DealerQueuesNothingForAnAbsentPeer) {
  Loop loop;
  auto dealer = DealerPort::connect(loop, "tcp://127.0.0.1:1", 1024, [](auto) {});
  ASSERT_TRUE(dealer);
  EXPECT_FALSE((*dealer)->send(bytes("hello?")));
}

TEST(ZmqPort, RouterTellsWhenAPeerIsUnknown) {
  Loop loop;
  auto router = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [](const Peer&, auto) {});
  ASSERT_TRUE(router);
  EXPECT_FALSE((*router)->send("nobody", bytes("hello?")));
}

TEST(ZmqPort, RouterReportsThatAPeerHasClosed) {
  Loop loop;
  const Watch limit = deadline(loop);
  Peer who;
  auto bound = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer& peer, auto) {
    who = peer;
    loop.stop();
  });
  ASSERT_TRUE(bound);
  auto dealer = DealerPort::connect(loop, (*bound)->endpoint(), 1024, [](auto) {});
  ASSERT_TRUE(dealer);
  send_when_possible(loop, **dealer, "here");
  loop.run();
  ASSERT_FALSE(who.empty());
  std::move(dealer).value().reset();
  const Watch ask = loop.every(5ms, [&] {
    if (!(*bound)->send(who, bytes("still there?"))) {
      loop.stop();
    }
  });
  loop.run();
}

TEST(ZmqPort, MessagesOfSeveralPartsAreDropped) {
  Loop loop;
  const Watch limit = deadline(loop);
  std::vector<std::string> seen;
  auto router = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer&, auto frame) {
    seen.push_back(text(frame));
    loop.stop();
  });
  ASSERT_TRUE(router);
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  socket.set(zmq::sockopt::linger, 0);
  socket.connect((*router)->endpoint());
  for (const char* part : {"one", "two", "three"}) {
    socket.send(zmq::str_buffer("part"), zmq::send_flags::sndmore);
    socket.send(zmq::buffer(std::string_view(part)), zmq::send_flags::none);
  }
  zmq::socket_t another(context, zmq::socket_type::dealer);
  another.connect((*router)->endpoint());
  another.send(zmq::str_buffer("whole"), zmq::send_flags::none);
  loop.run();
  EXPECT_EQ(seen, std::vector<std::string>{"whole"});
}

// What libzmq leaves open by default: frames of any size, silence that is noticed after minutes, an end that
// waits.
TEST(ZmqPort, OptionsAreThoseTheProtocolRestsOn) {
  Loop loop;
  auto router = RouterPort::bind(loop, "tcp://127.0.0.1:0", 4096, [](const Peer&, auto) {});
  ASSERT_TRUE(router);
  auto dealer = DealerPort::connect(loop, (*router)->endpoint(), 4096, [](auto) {});
  ASSERT_TRUE(dealer);
  SocketOptions both{{"linger", 0},
                     {"maxmsgsize", 4096},
                     {"heartbeat_ivl", 0},
                     {"handshake_ivl", 15'000},
                     {"tcp_keepalive", 1},
                     {"tcp_keepalive_idle", 30},
                     {"tcp_keepalive_intvl", 10},
                     {"tcp_keepalive_cnt", 3},
                     {"tcp_maxrt", 20'000}};
  const auto expect = [](const SocketOptions& has, const SocketOptions& wanted) {
    for (const auto& [name, value] : wanted) {
      ASSERT_TRUE(has.contains(name)) << name;
      EXPECT_EQ(has.at(name), value) << name;
    }
  };
  expect((*router)->options(), both);
  expect((*router)->options(), {{"rcvhwm", 256}, {"sndhwm", 4'096}, {"backlog", 4'096}});
  expect((*dealer)->options(), both);
  expect((*dealer)->options(), {{"rcvhwm", 4'096},
                                {"sndhwm", 256},
                                {"immediate", 1},
                                {"reconnect_ivl", 500},
                                {"reconnect_ivl_max", 2'000},
                                {"connect_timeout", 5'000}});
}

TEST(ZmqPort, TellsEachConnectionAndTakesFramesAtOnce) {
  Loop loop;
  const Watch limit = deadline(loop);
  std::vector<std::string> seen;
  const auto listen = [&](const std::string& endpoint) {
    auto bound = RouterPort::bind(loop, endpoint, 1024, [&](const Peer&, auto frame) {
      seen.push_back(text(frame));
      loop.stop();
    });
    EXPECT_TRUE(bound) << bound.error().message;
    return bound ? std::move(bound).value() : nullptr;
  };
  std::unique_ptr<RouterPort> router = listen("tcp://127.0.0.1:0");
  ASSERT_TRUE(router);
  const std::string endpoint = router->endpoint();
  std::unique_ptr<DealerPort> dealer;
  int connections = 0;
  auto connected = DealerPort::connect(
      loop, endpoint, 1024, [](auto) {}, std::nullopt,
      [&](DealerPort::Met met) {
        EXPECT_EQ(met, DealerPort::Met::connected);
        EXPECT_TRUE(dealer->send(bytes("connection " + std::to_string(++connections))));
      });
  ASSERT_TRUE(connected);
  dealer = std::move(connected).value();
  loop.run();
  router.reset();
  router = listen(endpoint);
  ASSERT_TRUE(router);
  loop.run();
  EXPECT_EQ(seen, (std::vector<std::string>{"connection 1", "connection 2"}));
}

TEST(ZmqPort, SpeaksOverIpv6) {
  Loop loop;
  const Watch limit = deadline(loop);
  std::string seen;
  auto router = RouterPort::bind(loop, "tcp://[::1]:0", 1024, [&](const Peer&, auto frame) {
    seen = text(frame);
    loop.stop();
  });
  ASSERT_TRUE(router) << router.error().message;
  auto dealer = DealerPort::connect(loop, (*router)->endpoint(), 1024, [](auto) {});
  ASSERT_TRUE(dealer);
  send_when_possible(loop, **dealer, "over IPv6");
  loop.run();
  EXPECT_EQ(seen, "over IPv6");
}

TEST(ZmqPort, ThatListensEverywhereIsReachedOverBothFamilies) {
  Loop loop;
  const Watch limit = deadline(loop);
  std::set<std::string> seen;
  auto router = RouterPort::bind(loop, "tcp://[::]:0", 1024, [&](const Peer&, auto frame) {
    seen.insert(text(frame));
    if (seen.size() == 2) {
      loop.stop();
    }
  });
  ASSERT_TRUE(router) << router.error().message;
  const std::string port = (*router)->endpoint().substr((*router)->endpoint().rfind(':'));
  auto four = DealerPort::connect(loop, "tcp://127.0.0.1" + port, 1024, [](auto) {});
  auto six = DealerPort::connect(loop, "tcp://[::1]" + port, 1024, [](auto) {});
  ASSERT_TRUE(four && six);
  send_when_possible(loop, **four, "IPv4");
  send_when_possible(loop, **six, "IPv6");
  loop.run();
  EXPECT_EQ(seen, (std::set<std::string>{"IPv4", "IPv6"}));
}

TEST(ZmqPort, FramesAboveTheLimitAreDropped) {
  Loop loop;
  const Watch limit = deadline(loop);
  std::vector<std::size_t> seen;
  auto router = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer&, auto frame) {
    seen.push_back(frame.size());
    loop.stop();
  });
  ASSERT_TRUE(router);
  zmq::context_t context;
  zmq::socket_t big(context, zmq::socket_type::dealer);
  big.connect((*router)->endpoint());
  big.send(zmq::buffer(std::string(1025, 'x')), zmq::send_flags::none);
  zmq::socket_t small(context, zmq::socket_type::dealer);
  small.connect((*router)->endpoint());
  small.send(zmq::buffer(std::string(1024, 'x')), zmq::send_flags::none);
  loop.run();
  EXPECT_EQ(seen, std::vector<std::size_t>{1024});
}

TEST(ZmqPort, RefusesToSendAFrameAboveTheLimit) {
  Loop loop;
  const Watch limit = deadline(loop);
  auto router = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer&, auto) { loop.stop(); });
  ASSERT_TRUE(router);
  auto dealer = DealerPort::connect(loop, (*router)->endpoint(), 1024, [](auto) {});
  ASSERT_TRUE(dealer);
  send_when_possible(loop, **dealer, "connected");
  loop.run();
  EXPECT_FALSE((*dealer)->send(std::vector<std::byte>(1025)));
}

TEST(ZmqPort, PortInUseIsSaid) {
  Loop loop;
  auto first = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [](const Peer&, auto) {});
  ASSERT_TRUE(first);
  auto second = RouterPort::bind(loop, (*first)->endpoint(), 1024, [](const Peer&, auto) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, engine::Errc::unavailable);
  EXPECT_NE(second.error().message.find((*first)->endpoint()), std::string::npos) << second.error().message;
}

TEST(ZmqPort, NonsenseEndpointIsABadRequest) {
  Loop loop;
  auto router = RouterPort::bind(loop, "somewhere", 1024, [](const Peer&, auto) {});
  ASSERT_FALSE(router);
  EXPECT_EQ(router.error().code, engine::Errc::bad_request);
  auto dealer = DealerPort::connect(loop, "somewhere", 1024, [](auto) {});
  ASSERT_FALSE(dealer);
  EXPECT_EQ(dealer.error().code, engine::Errc::bad_request);
}

TEST(ZmqPort, DealerMayBeDroppedByItsOwnHandler) {
  Loop loop;
  const Watch limit = deadline(loop);
  std::unique_ptr<RouterPort> router;
  auto bound = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer& peer, auto frame) {
    for (int i = 0; i < 10; ++i) {
      router->send(peer, frame);
    }
  });
  ASSERT_TRUE(bound);
  router = std::move(bound).value();
  int heard = 0;
  std::unique_ptr<DealerPort> dealer;
  auto connected = DealerPort::connect(loop, router->endpoint(), 1024, [&](auto) {
    ++heard;
    dealer.reset();
    loop.stop();
  });
  ASSERT_TRUE(connected);
  dealer = std::move(connected).value();
  send_when_possible(loop, *dealer, "hello");
  loop.run();
  EXPECT_EQ(heard, 1);
}

TEST(ZmqPort, DealerFindsARouterThatComesBack) {
  Loop loop;
  const Watch limit = deadline(loop);
  auto first = RouterPort::bind(loop, "tcp://127.0.0.1:0", 1024, [&](const Peer&, auto) { loop.stop(); });
  ASSERT_TRUE(first);
  const std::string endpoint = (*first)->endpoint();
  auto dealer = DealerPort::connect(loop, endpoint, 1024, [](auto) {});
  ASSERT_TRUE(dealer);
  const Watch talk = loop.every(10ms, [&] { (*dealer)->send(bytes("beat")); });
  loop.run();
  std::move(first).value().reset();
  auto second = RouterPort::bind(loop, endpoint, 1024, [&](const Peer&, auto) { loop.stop(); });
  ASSERT_TRUE(second) << second.error().message;
  loop.run();
}

}  // namespace
}  // namespace hpsearch::net
