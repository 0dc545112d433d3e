#include "daemon/sign_on/proxy_header.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "daemon/access/authentication.hpp"
#include "daemon/daemon_fixture.hpp"

namespace hpsearch::daemon {
namespace {

constexpr engine::Instant noon = engine::Instant::from_micros(1'800'000'000'000'000);
constexpr std::uint32_t proxy_uid = 4'000'000'001;

ProxyHeader proxy() {
  ProxyHeader proxy;
  proxy.header = "X-Forwarded-User";
  EXPECT_EQ(add_proxy_place(proxy.from, "10.0.0.5"), "");
  EXPECT_EQ(add_proxy_place(proxy.from, "fd00::/8"), "");
  proxy.from.users.push_back(proxy_uid);
  return proxy;
}

net::HttpRequest request_of(const net::HttpPeer& peer, const net::HttpHeaders& headers) {
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/api/v1/status";
  request.peer = peer;
  request.headers = headers;
  return request;
}

const net::HttpHeaders ann{{"x-forwarded-user", "ann"}, {"X-Forwarded-Groups", "nlp, staff,,x"}};

TEST(HeaderOfAProxy, NamesAPersonWithItsGroups) {
  for (const net::HttpPeer& peer :
       {net::HttpPeer{{}, "10.0.0.5"}, net::HttpPeer{{}, "fd00::7"}, net::HttpPeer{proxy_uid, "uid 7"}}) {
    const auto person = person_in(request_of(peer, ann), proxy());
    ASSERT_TRUE(person) << person.error().message;
    ASSERT_TRUE(*person) << peer.name;
    EXPECT_EQ((*person)->name, "ann");
    EXPECT_EQ((*person)->groups, (std::vector<std::string>{"nlp", "staff", "x"}));
  }
}

TEST(HeaderOfAProxy, IsRefusedFromAnyoneElse) {
  for (const net::HttpPeer& peer :
       {net::HttpPeer{{}, "10.0.0.6"}, net::HttpPeer{{}, "127.0.0.1"}, net::HttpPeer{::geteuid(), "uid 0"},
        net::HttpPeer{0, "uid 0"}, net::HttpPeer{12'345, "10.0.0.5"}}) {
    for (const net::HttpHeaders& headers : {ann, net::HttpHeaders{ann[0]}, net::HttpHeaders{ann[1]},
                                            net::HttpHeaders{{"X-FORWARDED-USER", ""}}}) {
      const auto person = person_in(request_of(peer, headers), proxy());
      ASSERT_FALSE(person) << peer.name;
      EXPECT_NE(person.error().message.find("accepted only from the proxies"), std::string::npos);
    }
    EXPECT_FALSE(*person_in(request_of(peer, {}), proxy())) << "a request without the header";
  }
}

TEST(HeaderOfAProxy, MustBeThereOnceWithAName) {
  const net::HttpPeer from{{}, "10.0.0.5"};
  const auto is_refused = [&](const net::HttpHeaders& headers) {
    return !person_in(request_of(from, headers), proxy());
  };
  EXPECT_TRUE(is_refused({{"X-Forwarded-User", "root"}, {"X-Forwarded-User", "ann"}}));
  EXPECT_TRUE(
      is_refused({{"X-Forwarded-User", "ann"}, {"X-Forwarded-Groups", "a"}, {"x-forwarded-groups", "b"}}));
  EXPECT_TRUE(is_refused({{"X-Forwarded-User", "uid:0"}}));
  EXPECT_TRUE(is_refused({{"X-Forwarded-User", "ann smith"}}));
  EXPECT_TRUE(is_refused({{"X-Forwarded-User", std::string(129, 'a')}}));
  EXPECT_FALSE(*person_in(request_of(from, {{"X-Forwarded-User", ""}}), proxy())) << "not signed in yet";
}

TEST(HeaderOfAProxy, CountsForNothingUntilItIsConfigured) {
  const auto person = person_in(request_of({{}, "10.0.0.5"}, ann), ProxyHeader{});
  ASSERT_TRUE(person);
  EXPECT_FALSE(*person);
}

TEST(HeaderOfAProxy, ComesFromAddressesNetworksAndUsers) {
  ProxyPlaces places;
  EXPECT_EQ(add_proxy_place(places, "user:root"), "");
  EXPECT_EQ(places.users, std::vector<std::uint32_t>{0});
  EXPECT_NE(add_proxy_place(places, "user:no-such-user-here"), "");
  for (const char* wrong : {"", "proxy.example.org", "10.0.0.0/33", "user:"}) {
    EXPECT_NE(add_proxy_place(places, wrong), "") << wrong;
  }
  EXPECT_TRUE(places.networks.empty());
}

/// A daemon behind such a proxy.
class BehindAProxy : public testing::Test {
 protected:
  BehindAProxy() {
    authentication_.use_roles(RoleTable({{.group = "nlp", .role = Role::submit, .workspaces = {"nlp"}}}), "");
  }
  std::variant<Caller, net::HttpResponse> caller(const net::HttpPeer& peer, const net::HttpHeaders& headers) {
    return authentication_.caller_of(request_of(peer, headers), noon);
  }

  Scratch folder_;
  Tokens tokens_{folder_.path().string()};
  Authentication authentication_{tokens_,
                                 Authentication::Rules{.owner = ::geteuid(), .groups = {}, .proxy = proxy()}};
  const net::HttpPeer proxy_{{}, "10.0.0.5"};
};

TEST_F(BehindAProxy, PersonHasTheRoleOfItsGroups) {
  const auto got = std::get<Caller>(caller(proxy_, ann));
  EXPECT_EQ(got.role, Role::submit);
  EXPECT_EQ(got.scope.text(), "nlp");
  EXPECT_EQ(got.name, "user ann");
  EXPECT_EQ(owner_name(got), "ann");
  EXPECT_EQ(actor_of(got), "ann");
  EXPECT_FALSE(got.may_make_tokens);
  EXPECT_FALSE(got.is_local);
}

TEST_F(BehindAProxy, PersonWithoutARoleIsRefused) {
  const auto got = std::get<net::HttpResponse>(
      caller(proxy_, {{"X-Forwarded-User", "bob"}, {"X-Forwarded-Groups", "guests"}}));
  EXPECT_EQ(got.status, 403U);
  EXPECT_NE(got.body.find("bob has no role here"), std::string::npos) << got.body;
  EXPECT_NE(got.body.find("none of the groups guests"), std::string::npos) << got.body;
}

TEST_F(BehindAProxy, ForgedHeaderIsRefusedAlsoWithAToken) {
  const auto made = tokens_.create("ci", Role::admin, Tokens::usual_life, "uid 0", noon);
  ASSERT_TRUE(made);
  net::HttpHeaders headers = ann;
  headers.emplace_back("Authorization", "Bearer " + made->text);
  EXPECT_EQ(std::get<net::HttpResponse>(caller({{}, "10.0.0.6"}, headers)).status, 403U);
  EXPECT_EQ(std::get<net::HttpResponse>(caller({::geteuid(), "uid 0"}, ann)).status, 403U);
  EXPECT_EQ(std::get<Caller>(caller(proxy_, headers)).name, "token ci") << "machines keep their tokens";
}

TEST_F(BehindAProxy, ProxyOnTheSocketHasNoRoleOfItsOwn) {
  const net::HttpPeer on_socket{proxy_uid, "uid 4000000001"};
  EXPECT_EQ(std::get<Caller>(caller(on_socket, {})).role, Role::anyone);
  EXPECT_EQ(std::get<Caller>(caller(on_socket, ann)).name, "user ann");
  EXPECT_EQ(std::get<Caller>(caller({::geteuid(), "uid 0"}, {})).role, Role::admin) << "as before";
}

}  // namespace
}  // namespace hpsearch::daemon
