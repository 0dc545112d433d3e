#include "http/http_text.hpp"

#include <gtest/gtest.h>

#include "hpsearch/io/net/networks.hpp"

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

TEST(HttpHead, IsReadInOneWayOnly) {
  const std::string line = "POST / HTTP/1.1\r\n";
  for (const char* good :
       {"", "Host: a\r\n", "Transfer-Encoding:  chunked \r\n", "transfer-encoding: Chunked\r\n",
        "Content-Length: 5\r\n", "Accept: a\r\nAccept: b\r\n", "Transfer-Encoding-Not: gzip\r\n"}) {
    EXPECT_EQ(ambiguity_of(line + good), "") << good;
  }
  EXPECT_EQ(ambiguity_of(line + "Host: a\n"), "a line of the header does not end with CR LF");
  EXPECT_EQ(ambiguity_of("\nPOST"), "a line of the header does not end with CR LF");
  EXPECT_EQ(ambiguity_of(line + "A: b"), "a line of the header does not end with CR LF");
  EXPECT_EQ(ambiguity_of(line + "A: b\r\n\tc\r\n"), "a header is folded over several lines");
  EXPECT_EQ(ambiguity_of(line + " Host: a\r\n"), "a header is folded over several lines");
  EXPECT_EQ(ambiguity_of(line + "ORIGIN: a\r\nOrigin: a\r\n"), "the header Origin stands twice");
  EXPECT_EQ(ambiguity_of(line + "Content-Length: 5\r\nContent-Length: 5\r\n"),
            "the header Content-Length stands twice");
  for (const char* length : {"5, 5", "+5", "-5", "0x5", "5 5", "", "five"}) {
    EXPECT_EQ(ambiguity_of(line + "Content-Length: " + length + "\r\n"), "the Content-Length is not a number")
        << length;
  }
  EXPECT_EQ(ambiguity_of(line + "Transfer-Encoding:\r\n"),
            "the only transfer coding that is served is chunked");
  EXPECT_EQ(ambiguity_of(line + "Transfer-Encoding: gzip, chunked\r\n"),
            "the only transfer coding that is served is chunked");
  EXPECT_EQ(ambiguity_of(line + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
            "Content-Length stands beside Transfer-Encoding");
}

TEST(HttpHeaders, AreFoundInAnyCase) {
  HttpRequest request;
  request.headers = {{"Idempotency-Key", "k1"}};
  EXPECT_EQ(request.header("idempotency-KEY"), "k1");
  EXPECT_EQ(request.header("absent"), "");
}

TEST(HttpAddress, MayBePinnedToACertificate) {
  const std::string pin(64, 'a');
  const auto pinned = read_http_address("https://head:8077#" + pin);
  ASSERT_TRUE(pinned);
  EXPECT_TRUE(pinned->tls);
  EXPECT_EQ(pinned->tcp.host, "head");
  EXPECT_EQ(pinned->tcp.port, "8077");
  EXPECT_EQ(pinned->fingerprint, pin);
  EXPECT_EQ(read_http_address("https://[::1]:1")->tcp.host, "::1");
  EXPECT_EQ(read_http_address("https://head:1")->fingerprint, "");
  EXPECT_FALSE(read_http_address("head:1")->tls);
  for (const char* wrong : {"https://head", "https://head:1#ab", "https://", "https://#", "http://head:1"}) {
    EXPECT_FALSE(read_http_address(wrong)) << wrong;
  }
}

TEST(Networks, HoldTheAddressesThatTheyName) {
  EXPECT_TRUE(is_in_network("10.1.2.3", "10.0.0.0/8"));
  EXPECT_TRUE(is_in_network("10.1.2.3", "10.1.2.3/32"));
  EXPECT_TRUE(is_in_network("10.1.2.3", "0.0.0.0/0"));
  EXPECT_TRUE(is_in_network("::ffff:10.1.2.3", "10.0.0.0/8"));
  EXPECT_TRUE(is_in_network("fd00::7", "fd00::/8"));
  EXPECT_FALSE(is_in_network("11.1.2.3", "10.0.0.0/8"));
  EXPECT_FALSE(is_in_network("10.1.2.4", "10.1.2.3/32"));
  EXPECT_FALSE(is_in_network("fe80::7", "fd00::/8"));
  EXPECT_FALSE(is_in_network("10.1.2.3", "fd00::/8"));
  EXPECT_FALSE(is_in_network("nonsense", "10.0.0.0/8"));
  EXPECT_FALSE(is_in_network("10.1.2.3", "nonsense"));
}

TEST(HttpText, GzipIsAcceptedWhereItIsNamed) {
  for (const char* yes :
       {"gzip", "br, gzip", "GZIP;q=0.5", "*", "deflate;q=0, * ; q=0.1", "gzip;q=1, *;q=0"}) {
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  }
  for (const char* no : {"", "identity", "gzip;q=0", "*;q=0", "gzip;q=0.0, *", "gzipped", "br"}) {
    EXPECT_FALSE(accepts_gzip(no)) << no;
  }
}

TEST(HttpText, TextsArePackable) {
  for (const char* yes : {"application/json", "text/html; charset=utf-8", "application/problem+json",
                          "application/vnd.hpsearch.columns"}) {
    EXPECT_TRUE(is_packable(yes)) << yes;
  }
  for (const char* no : {"text/event-stream", "application/x-tar", "image/png", ""}) {
    EXPECT_FALSE(is_packable(no)) << no;
  }
}

}  // namespace
}  // namespace hpsearch::net
