#include "hpsearch/io/zmq/invite_token.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hpsearch/engine/base/base64url.hpp"
#include "hpsearch/io/net/server_names.hpp"

namespace hpsearch::net {
namespace {

InviteToken a_token() {
  InviteToken token;
  token.endpoint = "tcp://[fd00::1]:8078";
  token.curve.server_key = "bb88471d65e2659b30c55a5321cebb5aab2b70a398645c26dca2b2fcb43fc518";
  token.curve.keys = *new_curve_keys();
  return token;
}

TEST(InviteTokenTest, IsOneWordThatReadsBack) {
  const InviteToken token = a_token();
  const std::string text = token.text();
  EXPECT_TRUE(text.starts_with("hpi_"));
  EXPECT_EQ(text.find_first_not_of(engine::base64url_alphabet), std::string::npos);
  EXPECT_LT(text.size(), 160U);
  const auto read = InviteToken::read(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->endpoint, token.endpoint);
  EXPECT_EQ(read->curve.server_key, token.curve.server_key);
  EXPECT_EQ(read->curve.keys.public_key, token.curve.keys.public_key);
  EXPECT_EQ(read->curve.keys.secret_key, token.curve.keys.secret_key);
}

TEST(InviteTokenTest, EachDamageIsNoticed) {
  const std::string text = a_token().text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(InviteToken::read(changed)) << i;
    EXPECT_FALSE(InviteToken::read(text.substr(0, i))) << i;
  }
  EXPECT_FALSE(InviteToken::read(text + "A"));
}

TEST(InviteTokenTest, MessageTellsWhatItIsAndNotItsContent) {
  const std::string text = a_token().text();
  std::string said;
  for (const std::string& wrong :
       {std::string("hps_abcdefgh_secretsecret"), std::string("password1"), text.substr(0, 90)}) {
    const auto read = InviteToken::read(wrong);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message.find(wrong.substr(4, 20)), std::string::npos);
    said += read.error().message + "\n";
  }
  EXPECT_NE(said.find("token of a client"), std::string::npos) << said;
  EXPECT_NE(said.find("not an invite"), std::string::npos) << said;
  EXPECT_NE(said.find("damaged"), std::string::npos) << said;
}

TEST(EndpointForOthers, IsTheGivenAddressElseTheOneOfThePort) {
  EXPECT_EQ(endpoint_for_others("tcp://10.0.0.1:8078", ""), "tcp://10.0.0.1:8078");
  EXPECT_EQ(endpoint_for_others("tcp://0.0.0.0:8078", "head"), "tcp://head:8078");
  EXPECT_EQ(endpoint_for_others("tcp://0.0.0.0:8078", "head:9000"), "tcp://head:9000");
  EXPECT_EQ(endpoint_for_others("tcp://0.0.0.0:8078", "tcp://head:9000"), "tcp://head:9000");
  EXPECT_EQ(endpoint_for_others("tcp://[::]:8078", "fd00::1"), "tcp://[fd00::1]:8078");
  EXPECT_EQ(endpoint_for_others("tcp://[::]:8078", "[fd00::1]:9000"), "tcp://[fd00::1]:9000");
  EXPECT_EQ(endpoint_for_others("tcp://[fd00::1]:8078", ""), "tcp://[fd00::1]:8078");
  const std::string own = endpoint_for_others("tcp://0.0.0.0:8078", "");
  EXPECT_TRUE(own.starts_with("tcp://") && own.ends_with(":8078")) << own;
  EXPECT_EQ(own.find("0.0.0.0"), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::net
