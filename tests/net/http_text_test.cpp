#include "http_text.hpp"

#include <gtest/gtest.h>

namespace hpsearch::net {
namespace {

TEST(HttpTarget, SplitsPathAndQuery) {
  HttpRequest request;
  ASSERT_TRUE(read_target("/api/v1/events?after=3&limit=&flag&name=a%20b+c", request));
  EXPECT_EQ(request.path, "/api/v1/events");
  EXPECT_EQ(request.query_or("after", "none"), "3");
  EXPECT_EQ(request.query_or("limit", "none"), "");
  EXPECT_EQ(request.query_or("flag", "none"), "");
  EXPECT_EQ(request.query_or("name", "none"), "a b c");
  EXPECT_EQ(request.query_or("absent", "none"), "none");
}

TEST(HttpTarget, DecodesOnce) {
  HttpRequest request;
  ASSERT_TRUE(read_target("/%2541", request));
  EXPECT_EQ(request.path, "/%41");
}

TEST(HttpTarget, PlusIsASpaceOnlyInTheQuery) {
  HttpRequest request;
  ASSERT_TRUE(read_target("/a+b?c=d+e", request));
  EXPECT_EQ(request.path, "/a+b");
  EXPECT_EQ(request.query_or("c", ""), "d e");
}

TEST(HttpTarget, RefusesWhatIsNoPath) {
  HttpRequest request;
  for (const char* target : {"", "*", "http://other/path", "path", "/%", "/%4", "/%zz", "/a%00b", "/?a=%0"}) {
    EXPECT_FALSE(read_target(target, request)) << target;
  }
}

TEST(HttpTarget, EncodedTextReadsBackAsItWas) {
  const std::string odd = "a/b?c&d=e%20 +\xc3\xa4#";
  HttpRequest request;
  ASSERT_TRUE(read_target("/x?" + percent_encoded(odd) + "=" + percent_encoded(odd), request));
  EXPECT_EQ(request.query_or(odd, "none"), odd);
}

TEST(HttpHost, ReadsNamesAddressesAndPorts) {
  const auto plain = read_host_port("localhost:8077");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "localhost");
  EXPECT_EQ(plain->port, "8077");
  const auto six = read_host_port("[::1]:80");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, "80");
  const auto bare = read_host_port("127.0.0.1");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->port, "");
}

TEST(HttpHost, RefusesWhatIsNeither) {
  for (const char* text : {"", ":80", "[::1", "a:b", "a:", "a:70000", "a:123456", "[::1]x"}) {
    EXPECT_FALSE(read_host_port(text)) << text;
  }
}

TEST(HttpHeaders, AreFoundInAnyCase) {
  HttpRequest request;
  request.headers = {{"Idempotency-Key", "k1"}};
  EXPECT_EQ(request.header("idempotency-KEY"), "k1");
  EXPECT_EQ(request.header("absent"), "");
}

}  // namespace
}  // namespace hpsearch::net
