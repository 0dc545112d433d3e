#include "hpsearch/io/zmq/curve.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "hpsearch/io/zmq/zmq_port.hpp"
#include "net/handshake.hpp"
#include "scratch.hpp"
#include "zmq/curve_bytes.hpp"
#include "zmq/curve_sockets.hpp"
#include "zmq/zap.hpp"

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;
using engine::Errc;

CurveKeys made_in(const Scratch& scratch, const std::string& name) {
  std::filesystem::create_directories(scratch.path(name));
  auto keys = curve_keys_in(scratch.path(name));
  EXPECT_TRUE(keys) << keys.error().message;
  return keys ? *keys : CurveKeys{};
}

TEST(CurveKeys, AreMadeOnceAndForTheirOwnerOnly) {
  const Scratch scratch;
  const CurveKeys made = made_in(scratch, "state");
  EXPECT_TRUE(is_curve_key(made.public_key));
  EXPECT_TRUE(is_curve_key(made.secret_key));
  struct stat found {};
  ASSERT_EQ(::stat(scratch.path("state/curve.key").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  const CurveKeys again = made_in(scratch, "state");
  EXPECT_EQ(again.public_key, made.public_key);
  EXPECT_EQ(again.secret_key, made.secret_key);
  EXPECT_NE(made_in(scratch, "other").public_key, made.public_key);
}

TEST(CurveKeys, AreTheSameForAllWhoMakeThemAtOnce) {
  for (int round = 0; round < 20; ++round) {
    const Scratch scratch;
    constexpr int makers = 8;
    std::latch together(makers);
    std::vector<std::string> made(makers);
    {
      std::vector<std::jthread> threads;
      for (std::string& secret : made) {
        threads.emplace_back([&] {
          together.arrive_and_wait();
          const auto keys = curve_keys_in(scratch.path());
          secret = keys ? keys->secret_key : keys.error().message;
        });
      }
    }
    EXPECT_EQ(std::set<std::string>(made.begin(), made.end()).size(), 1U);
    EXPECT_TRUE(is_curve_key(made.front())) << made.front();
    const std::filesystem::directory_iterator files(scratch.path());
    EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "a draft was left";
  }
}

TEST(CurveKeys, NeedNoQuotesInShellsAndUnits) {
  // 38 % of those that libzmq spells have a character that a unit of systemd replaces ("%", "$").
  const Scratch scratch;
  for (int i = 0; i < 50; ++i) {
    const CurveKeys made = made_in(scratch, std::to_string(i));
    const std::string both = made.public_key + made.secret_key;
    ASSERT_TRUE(std::all_of(both.begin(), both.end(), [](unsigned char one) {
      return std::isalnum(one) != 0;
    })) << both;
  }
}

TEST(CurveKeys, AreThoseOfLibzmqSpelledAnotherWay) {
  const engine::Result<CurveKeys> made = new_curve_keys();
  ASSERT_TRUE(made);
  EXPECT_EQ(key_of_bytes(bytes_of_key(made->public_key)), made->public_key);
  std::array<char, 41> secret{};
  std::array<char, 41> derived{};
  const KeyBytes bytes = bytes_of_key(made->secret_key);
  ASSERT_NE(::zmq_z85_encode(secret.data(), bytes.data(), bytes.size()), nullptr);
  ASSERT_EQ(::zmq_curve_public(derived.data(), secret.data()), 0);
  KeyBytes expected{};
  ASSERT_NE(::zmq_z85_decode(expected.data(), derived.data()), nullptr);
  EXPECT_EQ(made->public_key, key_of_bytes(expected));
}

TEST(CurveKeys, ThatOthersMayReadAreRefused) {
  const Scratch scratch;
  made_in(scratch, "state");
  const std::string path = scratch.path("state/curve.key");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const auto read = curve_keys_in(scratch.path("state"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::wrong_state);
  EXPECT_NE(read.error().message.find(path), std::string::npos);
}

TEST(CurveKeys, DamagedOnesAreNamed) {
  const Scratch scratch;
  made_in(scratch, "state");
  const std::string path = scratch.path("state/curve.key");
  write_text(path, "not a key\n");
  const auto read = curve_keys_in(scratch.path("state"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::corrupt);
  EXPECT_NE(read.error().message.find(path), std::string::npos);
}

TEST(AdmittedKey, IsNothingForAMessageWithoutARequest) {
  const zmq::message_t message(std::string("hello"));
  EXPECT_EQ(admitted_key(message), std::nullopt);
}

TEST(CurveKeys, AreSixtyFourDigitsOfHexadecimal) {
  const std::string key = "54fcba24e93249969316fb617c872bb0c1d1ff14800427c594cbfacf1bc2d652";
  EXPECT_TRUE(is_curve_key(key));
  EXPECT_FALSE(is_curve_key(""));
  EXPECT_FALSE(is_curve_key(key.substr(1)));
  EXPECT_FALSE(is_curve_key(key + "0"));
  EXPECT_FALSE(is_curve_key("g" + key.substr(1)));
  EXPECT_FALSE(is_curve_key("A" + key.substr(1))) << "one spelling, or a list of keys would not find it";
}

/// A router that admits some keys, and dealers of every kind that ask it.
class GuardedPort : public testing::Test {
 protected:
  void SetUp() override {
    limit = loop.after(60s, [this] {
      ADD_FAILURE() << "the loop did not end in time";
      loop.stop();
    });
    auto bound = RouterPort::bind(
        loop, "tcp://127.0.0.1:0", 1'024,
        [this](const Peer& peer, auto frame) {
          senders.push_back(router->sender_key());
          EXPECT_TRUE(router->send(peer, frame));
        },
        CurveServer{server, [this](const std::string& key) {
                      ++asked;
                      return key == worker.public_key;
                    }});
    ASSERT_TRUE(bound) << bound.error().message;
    router = *std::move(bound);
  }

  void connect(std::optional<CurveClient> curve) {
    auto connected = DealerPort::connect(
        loop, router->endpoint(), 1'024,
        [this](auto) {
          answered = true;
          loop.stop();
        },
        std::move(curve),
        [this](DealerPort::Met met) {
          if (met != DealerPort::Met::connected) {
            refused = met;
            loop.stop();
          }
        });
    ASSERT_TRUE(connected) << connected.error().message;
    dealer = *std::move(connected);
    connect_again = loop.every(5ms, [this] {
      if (!sent) {
        sent = dealer->send(std::vector<std::byte>(7));
      }
    });
    loop.run();
  }

  Scratch scratch;
  CurveKeys server = made_in(scratch, "server");
  CurveKeys worker = made_in(scratch, "worker");
  CurveKeys stranger = made_in(scratch, "stranger");
  std::atomic<int> asked = 0;
  Loop loop;
  Watch limit;
  std::unique_ptr<RouterPort> router;
  std::unique_ptr<DealerPort> dealer;
  Watch connect_again;
  bool sent = false;
  bool answered = false;
  std::optional<DealerPort::Met> refused;
  std::vector<std::string> senders;
};

TEST_F(GuardedPort, IsTriedWithAKeyThatIsNotAllowedBeforeItOpens) {
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(senders.empty());
}

TEST_F(GuardedPort, HearsWhomItAdmitsAndTellsTheKey) {
  connect(CurveClient{server.public_key, worker});
  EXPECT_TRUE(answered);
  EXPECT_EQ(senders, std::vector{worker.public_key});
}

TEST_F(GuardedPort, HearsNoOtherKey) {
  connect(CurveClient{server.public_key, stranger});
  EXPECT_EQ(refused, DealerPort::Met::key_refused);
  EXPECT_TRUE(senders.empty());
}

TEST_F(GuardedPort, RefusesPeersWithoutKeys) {
  connect(std::nullopt);
  EXPECT_EQ(refused, DealerPort::Met::security_differs);
  EXPECT_TRUE(senders.empty());
}

TEST_F(GuardedPort, IsNotTakenForAnother) {
  connect(CurveClient{stranger.public_key, worker});
  EXPECT_EQ(refused, DealerPort::Met::security_differs);
  EXPECT_TRUE(senders.empty());
}

TEST_F(GuardedPort, IsTriedOverIpv6Too) {
  auto bound = RouterPort::bind(
      loop, "tcp://[::1]:0", 1'024, [](const Peer&, auto) {},
      CurveServer{stranger, [](const std::string&) { return false; }});
  EXPECT_TRUE(bound) << bound.error().message;
}

TEST(OpenPort, IsFoundToLetInStrangers) {
  // A port with keys that no handler asks for, as a library that does not call the handler would make it.
  const Scratch scratch;
  const CurveKeys server = made_in(scratch, "server");
  zmq::context_t context;
  zmq::socket_t router(context, zmq::socket_type::router);
  router.set(zmq::sockopt::linger, 0);
  demand_keys(router, server);
  router.bind("tcp://127.0.0.1:*");
  const engine::Status tried =
      strangers_are_kept_out(router.get(zmq::sockopt::last_endpoint), server.public_key);
  ASSERT_FALSE(tried);
  EXPECT_NE(tried.error().message.find("accepts keys that are not allowed"), std::string::npos)
      << tried.error().message;
}

}  // namespace
}  // namespace hpsearch::net
