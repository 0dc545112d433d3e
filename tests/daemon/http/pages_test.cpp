#include "daemon/pages/pages.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "daemon/daemon_fixture.hpp"
#include "daemon/pages/gzip_text.hpp"

namespace hpsearch::daemon {
namespace {

/// Pages of three files, none of them compressed.
class PlainPages : public testing::Test {
 protected:
  net::HttpResponse get(const std::string& path, const net::HttpHeaders& headers = {}) const {
    net::HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.headers = headers;
    return pages_.answer(request);
  }

  static std::string header_of(const net::HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) {
        return value;
      }
    }
    return "";
  }

 private:
  std::map<std::string, std::string, std::less<>> files_{
      {"index.html", "<a href={{base}}x><b href={{base}}y>"},
      {"assets/main.ABCD1234.js", "run()"},
      {"LICENSES.txt", "MIT"}};
  Pages pages_{[this](std::string_view name) -> std::optional<PageFile> {
    const auto found = files_.find(name);
    return found == files_.end() ? std::nullopt
                                 : std::optional(PageFile{found->second, false, "hash-of-" + found->first});
  }};
};

TEST_F(PlainPages, DashboardAddressReturnsTheIndexWithItsBase) {
  EXPECT_EQ(get("/").body, "<a href=./x><b href=./y>");
  EXPECT_EQ(get("/index.html").body, "<a href=./x><b href=./y>");
  EXPECT_EQ(get("/experiments").body, "<a href=./x><b href=./y>");
  EXPECT_EQ(get("/e/3").body, "<a href=../x><b href=../y>");
  EXPECT_EQ(get("/e/3/t/5/log").body, "<a href=../../../../x><b href=../../../../y>");
  EXPECT_EQ(get("/e/3/").body, "<a href=../../x><b href=../../y>");
  EXPECT_EQ(get("/e/3").content_type, "text/html; charset=utf-8");
}

TEST_F(PlainPages, FilesWithAHashInTheirNameAreCachedForEver) {
  const auto script = get("/assets/main.ABCD1234.js");
  EXPECT_EQ(script.status, 200U);
  EXPECT_EQ(script.body, "run()");
  EXPECT_EQ(script.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(header_of(script, "Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(header_of(get("/"), "Cache-Control"), "no-cache");
  EXPECT_EQ(header_of(get("/LICENSES.txt"), "Cache-Control"), "no-cache");
}

TEST_F(PlainPages, MissingFileIsNotTheIndex) {
  for (const char* path : {"/favicon.ico", "/assets/main.OLD.js", "/assets/x", "/e/3/main.js",
                           "/../secrets.key", "/e/..", "/assets/../index.html"}) {
    EXPECT_EQ(get(path).status, 404U) << path;
  }
}

TEST_F(PlainPages, CachedPageIsNotSentAgain) {
  const std::string etag = header_of(get("/e/3"), "ETag");
  EXPECT_EQ(get("/e/3", {{"If-None-Match", etag}}).status, 304U);
  EXPECT_EQ(get("/e/3", {{"If-None-Match", etag}}).body, "");
  EXPECT_EQ(get("/e/4", {{"If-None-Match", etag}}).status, 304U);
  EXPECT_EQ(get("/", {{"If-None-Match", etag}}).status, 200U) << "its way back is another one";
}

TEST_F(PlainPages, OnlyScriptsOfTheServerAreAllowed) {
  for (const char* path : {"/", "/assets/main.ABCD1234.js"}) {
    const std::string policy = header_of(get(path), "Content-Security-Policy");
    EXPECT_NE(policy.find("default-src 'none'; script-src 'self'; style-src 'self';"), std::string::npos)
        << policy;
    EXPECT_NE(policy.find("frame-ancestors 'none'; require-trusted-types-for 'script'"), std::string::npos)
        << policy;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
  }
}

TEST(Pages, DoNotHideTheApi) {
  for (const char* path :
       {"/api", "/api/v1/nothing", "/api/v2", "/healthz", "/readyz", "/version", "/metrics"}) {
    EXPECT_FALSE(Pages::is_page(path)) << path;
  }
  for (const char* path : {"/", "/apis", "/versions", "/e/3", "/assets/x.js"}) {
    EXPECT_TRUE(Pages::is_page(path)) << path;
  }
}

TEST(EmbeddedPages, AreTheSameCompressedAndPlain) {
  const auto index = embedded_page_files()("index.html");
  ASSERT_TRUE(index);
  ASSERT_TRUE(index->is_gzipped);
  const std::string html = gunzipped(index->bytes);
  EXPECT_TRUE(html.starts_with("<!doctype html>")) << html.substr(0, 100);
  const std::size_t link = html.find("<link rel=\"stylesheet\" href=\"{{base}}") + 37;
  const std::string style = html.substr(link, html.find('"', link) - link);
  const Pages pages(embedded_page_files());
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/" + style;
  const auto plain = pages.answer(request);
  ASSERT_EQ(plain.status, 200U) << style;
  request.headers = {{"Accept-Encoding", "br, gzip"}};
  const auto packed = pages.answer(request);
  EXPECT_EQ(gunzipped(packed.body), plain.body);
  EXPECT_LT(packed.body.size(), plain.body.size());
  request.headers = {{"Accept-Encoding", "br, gzip;q=0"}};
  EXPECT_EQ(pages.answer(request).body, plain.body);
}

TEST(EmbeddedPages, DamagedPageIsNotSent) {
  const auto index = embedded_page_files()("index.html");
  ASSERT_TRUE(index);
  EXPECT_EQ(gunzipped(std::string_view(index->bytes).substr(0, index->bytes.size() / 2)), "");
  EXPECT_EQ(gunzipped("no gzip at all"), "");
  EXPECT_EQ(gunzipped(index->bytes, 10), "");
}

TEST(PagesOfADirectory, AreReadForEachRequest) {
  const Scratch folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
  };
  const FindPageFile find = page_files_in(folder.path().string());
  EXPECT_FALSE(find("index.html"));
  write("index.html", "one");
  EXPECT_EQ(find("index.html")->bytes, "one");
  write("index.html", "two");
  EXPECT_EQ(find("index.html")->bytes, "two");
  write(".hidden", "secret");
  EXPECT_FALSE(find(".hidden"));
  EXPECT_FALSE(find("../" + folder.path().filename().string() + "/index.html"));
}

TEST(ServedPages, NeedNoToken) {
  DaemonFixture daemon;
  daemon.serve_http(false);
  const auto index = daemon.ask("GET", "/e/3?tab=curves&unknown=x");
  EXPECT_EQ(index.status, 200U) << index.text;
  EXPECT_NE(index.text.find("href=\"../"), std::string::npos) << index.text;
  EXPECT_EQ(daemon.ask("HEAD", "/").status, 200U);
  EXPECT_EQ(daemon.ask("GET", "/nothing.js").status, 404U);
  EXPECT_EQ(daemon.ask("POST", "/").status, 401U);
}

}  // namespace
}  // namespace hpsearch::daemon
