#include "hpsearch/io/net/tls.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/server_names.hpp"
#include "scratch.hpp"

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;

TlsIdentity identity_in(const Scratch& folder) {
  auto made = TlsIdentity::self_signed(folder.path().string());
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

TEST(TlsIdentity, IsMadeOnceAndForItsOwnerAlone) {
  const Scratch folder;
  const std::string fingerprint = identity_in(folder).fingerprint();
  EXPECT_EQ(fingerprint.size(), 64U);
  EXPECT_EQ(identity_in(folder).fingerprint(), fingerprint);
  for (const char* name : {"tls.key", "tls.crt"}) {
    struct stat found {};
    ASSERT_EQ(::stat(folder.path(name).c_str(), &found), 0) << name;
    EXPECT_EQ(found.st_mode & 0777U, 0600U) << name;
  }
  EXPECT_GT(identity_in(folder).valid_for(), std::chrono::hours(24 * 365 * 9));
  const Scratch other;
  EXPECT_NE(identity_in(other).fingerprint(), fingerprint);
}

TEST(TlsIdentity, IsForTheNamesAndAddressesOfItsServer) {
  const Scratch folder;
  const auto made = TlsIdentity::self_signed(
      folder.path().string(), {"head.example", "head", "10.0.0.1", "fd00::1", "not a name", "[fd00::2]"});
  ASSERT_TRUE(made) << made.error().message;
  for (const char* name : {"head.example", "head", "10.0.0.1", "fd00::1"}) {
    EXPECT_TRUE(made->names(name)) << name;
  }
  for (const char* name : {"other", "hpsearchd", "10.0.0.2", "fd00::2", ""}) {
    EXPECT_FALSE(made->names(name)) << name;
  }
}

TEST(ServerNames, WithIpv6AddressesOnlyAreReachedOverIpv6) {
  EXPECT_TRUE(needs_ipv6("tcp://[::1]:8078"));
  EXPECT_FALSE(needs_ipv6("tcp://127.0.0.1:8078"));
  EXPECT_FALSE(needs_ipv6("tcp://localhost:8078")) << "it has an IPv4 address, too";
  EXPECT_FALSE(needs_ipv6("ipc:///run/hpsearch/workers.sock"));
}

TEST(ServerNames, AreTheHostOrAllAddressesAndThoseOfThisMachine) {
  const auto has = [](const std::string& address, const std::string& name) {
    const std::vector<std::string> names = names_of_server(address);
    return std::count(names.begin(), names.end(), name) == 1;
  };
  EXPECT_TRUE(has("10.0.0.1:8077", "10.0.0.1"));
  EXPECT_TRUE(has("[fd00::1]:8077", "fd00::1"));
  EXPECT_TRUE(has("head.example:8077", "head.example"));
  for (const char* everywhere : {"0.0.0.0:8077", "[::]:8077"}) {
    EXPECT_TRUE(has(everywhere, "localhost"));
    EXPECT_TRUE(has(everywhere, "127.0.0.1"));
    EXPECT_TRUE(has(everywhere, "::1"));
    EXPECT_FALSE(has(everywhere, "0.0.0.0"));
    EXPECT_FALSE(has(everywhere, "::"));
  }
}

TEST(TlsIdentity, FilesThatDoNotBelongTogetherAreRefusedByName) {
  const Scratch one;
  const Scratch two;
  identity_in(one);
  identity_in(two);
  const auto mixed = TlsIdentity::from_files(one.path("tls.crt"), two.path("tls.key"));
  ASSERT_FALSE(mixed);
  EXPECT_NE(mixed.error().message.find(two.path("tls.key")), std::string::npos) << mixed.error().message;
  EXPECT_FALSE(TlsIdentity::from_files(one.path("none"), one.path("tls.key")));
  write_text(one.path("tls.crt"), "nonsense");
  EXPECT_FALSE(TlsIdentity::from_files(one.path("tls.crt"), one.path("tls.key")));
}

TEST(TlsIdentity, ABadPairLeavesTheOldOneInPlace) {
  const Scratch folder;
  TlsIdentity identity = identity_in(folder);
  const std::string before = identity.fingerprint();
  const std::string certificate = text_of(folder.path("tls.crt"));
  write_text(folder.path("tls.crt"), "nonsense");
  EXPECT_FALSE(identity.reload());
  EXPECT_EQ(identity.fingerprint(), before);
  const Scratch other;
  const std::string after = identity_in(other).fingerprint();
  for (const char* name : {"tls.key", "tls.crt"}) {
    write_text(folder.path(name), text_of(other.path(name)));
  }
  EXPECT_TRUE(identity.reload());
  EXPECT_EQ(identity.fingerprint(), after);
}

/// A server with TLS in its own thread that says how long the body was.
class TlsServer : public testing::Test {
 protected:
  void SetUp() override { begin({.tls = identity_}); }
  void begin(HttpRules rules) {
    auto listening = HttpServer::listen(
        loop_, "127.0.0.1:0",
        [](const HttpRequest& request, const HttpServer::Reply& reply) {
          HttpResponse response;
          response.body = std::to_string(request.body.size()) + std::string(200'000, '.');
          reply(std::move(response));
        },
        std::move(rules));
    ASSERT_TRUE(listening) << listening.error().message;
    server_ = std::move(listening).value();
    address_ = server_->address();
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override {
    loop_.post([this] {
      server_.reset();
      loop_.stop();
    });
    thread_.join();
  }
  static engine::Result<HttpResponse> ask(const std::string& address, const std::string& body = "") {
    return http_request(address, "POST", "/", body, 30s);
  }

  Scratch folder_;
  TlsIdentity identity_ = identity_in(folder_);
  Loop loop_;
  std::unique_ptr<HttpServer> server_;
  std::string address_;
  std::thread thread_;
};

TEST_F(TlsServer, IsKnownByItsFingerprint) {
  EXPECT_TRUE(address_.starts_with("https://127.0.0.1:")) << address_;
  EXPECT_TRUE(address_.ends_with("#" + identity_.fingerprint())) << address_;
  const auto answer = ask(address_, std::string(900'000, ' '));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200U);
  EXPECT_TRUE(answer->body.starts_with("900000.")) << answer->body.substr(0, 20);
  EXPECT_EQ(answer->body.size(), 200'006U);
}

TEST_F(TlsServer, IsRefusedWithoutTheFingerprint) {
  const std::string bare = address_.substr(0, address_.find('#'));
  const auto unknown = ask(bare);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("fingerprint"), std::string::npos) << unknown.error().message;
  const auto other = ask(bare + "#" + std::string(64, 'a'));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another certificate"), std::string::npos) << other.error().message;
}

TEST_F(TlsServer, RefusesPlainText) {
  const std::string place = address_.substr(8, address_.find('#') - 8);
  EXPECT_FALSE(ask(place));
}

TEST_F(TlsServer, ARereadKeyCountsForTheNextConnection) {
  const Scratch other;
  const std::string after = identity_in(other).fingerprint();
  for (const char* name : {"tls.key", "tls.crt"}) {
    write_text(folder_.path(name), text_of(other.path(name)));
  }
  std::promise<bool> read;
  loop_.post([&] { read.set_value(static_cast<bool>(identity_.reload())); });
  ASSERT_TRUE(read.get_future().get());
  EXPECT_FALSE(ask(address_));
  EXPECT_TRUE(ask(address_.substr(0, address_.find('#') + 1) + after));
}

class ProxiedServer : public TlsServer {
 protected:
  void SetUp() override {}
};

TEST_F(ProxiedServer, ServesItsProxysNetworkOnly) {
  begin({.only_from = "127.0.0.0/8"});
  const auto answer = http_request(address_, "POST", "/", "", 30s, {{"Host", "hpsearch.example"}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200U) << "a proxy knows the names under which it is reached";
}

TEST_F(ProxiedServer, ServesNoOtherAddress) {
  begin({.only_from = "10.0.0.0/8"});
  EXPECT_FALSE(ask(address_));
}

TEST_F(ProxiedServer, ANetworkThatIsNoneIsRefused) {
  for (const char* wrong : {"10.0.0.0", "10.0.0.0/33", "nonsense", "fd00::/129"}) {
    const auto refused = HttpServer::listen(loop_, "127.0.0.1:0", {}, {.only_from = wrong});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, engine::Errc::bad_request);
    EXPECT_NE(refused.error().message.find(wrong), std::string::npos) << refused.error().message;
  }
  begin({});  // For TearDown().
}

}  // namespace
}  // namespace hpsearch::net
