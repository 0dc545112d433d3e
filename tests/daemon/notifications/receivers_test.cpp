#include "daemon/notifications/receivers.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;

class ReceiversFile : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        fs::path(::testing::TempDir()) /
        ("receivers-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0640) {
    const std::string path = (directory_ / name).string();
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  /// Without the directory.
  std::string problem_of(const std::string& text) {
    const auto read = read_receivers(write("notify.yaml", text));
    std::string message = read ? "none" : read.error().message;
    for (std::size_t at = 0; (at = message.find(directory_.string() + "/")) != std::string::npos;) {
      message.erase(at, directory_.string().size() + 1);
    }
    return message;
  }

  fs::path directory_;
};

TEST_F(ReceiversFile, HasWebhooksSlackAndMail) {
  write("secret", "0123456789abcdef\n", 0600);
  const auto read = read_receivers(write("notify.yaml", R"(
pages: https://hpsearch.example.org/
receivers:
  on-call: {webhook: 'https://alerts.example.org/hpsearch', secret_file: secret, on: [failed, worker_lost]}
  team: {slack: 'https://hooks.slack.com/services/T0/B0/x', workspaces: [vision], labels: [paper]}
  me: {mail: [ann@example.org, bob@example.org]}
)"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->pages, "https://hpsearch.example.org");
  EXPECT_EQ(read->sendmail, "/usr/sbin/sendmail");
  ASSERT_EQ(read->list.size(), 3U);
  const Receiver& me = read->list[0];
  EXPECT_EQ(me.way, Receiver::Way::mail);
  EXPECT_EQ(me.to, (std::vector<std::string>{"ann@example.org", "bob@example.org"}));
  EXPECT_EQ(me.on, (std::set{Occasion::ended, Occasion::failed, Occasion::paused, Occasion::worker_lost}));
  const Receiver& on_call = read->list[1];
  EXPECT_EQ(on_call.key, "0123456789abcdef");
  EXPECT_EQ(on_call.url.address, "https://alerts.example.org:443");
  EXPECT_EQ(on_call.url.target, "/hpsearch");
  EXPECT_EQ(on_call.on, (std::set{Occasion::failed, Occasion::worker_lost}));
  EXPECT_EQ(read->list[2].on, (std::set{Occasion::ended, Occasion::failed, Occasion::paused}));
}

TEST_F(ReceiversFile, NamesEachMistakeWithItsLine) {
  EXPECT_EQ(
      problem_of("receivers:\n  a: {webhook: ftp://x, on: [end]}\n  b: {mail: []}\n  'c/d': {slack: "
                 "https://x, who: 1}\n"),
      "notify.yaml:2: receivers.a.webhook: is no address of a receiver (as https://host/path)\n"
      "notify.yaml:2: receivers.a.on: has \"end\" (any of ended, failed, paused, new_best, worker_lost)\n"
      "notify.yaml:3: receivers.b.mail: names nobody (addresses, as ann@example.org)\n"
      "notify.yaml:4: receivers.c/d: is no name of a receiver (at most 64 letters, digits, -, _ and .)\n"
      "notify.yaml:4: receivers.c/d.who: is not a known field (one of fingerprint, labels, mail, on, slack, "
      "webhook or "
      "workspaces)");
  EXPECT_EQ(problem_of("pages: x\n"),
            "notify.yaml:1: pages: is no address of the pages (as https://host/path)\n"
            "notify.yaml:1: receivers: is missing (receivers by their names)");
  EXPECT_EQ(problem_of("receivers: {a: {webhook: https://x, slack: https://y}}"),
            "notify.yaml:1: receivers.a: has not exactly one of webhook, slack and mail");
  EXPECT_EQ(problem_of("receivers: {a: {slack: https://x, workspaces: [v], on: [worker_lost]}}"),
            "notify.yaml:1: receivers.a.on: has worker_lost, but workers have no workspace and no labels "
            "(another receiver "
            "without workspaces and labels)");
  EXPECT_EQ(problem_of("receivers: {a: {webhook: https://x, secret_file: none}}"),
            "notify.yaml:1: receivers.a.secret_file: none cannot be read: No such file or directory");
}

TEST(ReadUrl, HasAHostAPortAndATarget) {
  const auto parts = [](const std::string& text) {
    const auto url = read_url(text);
    return url ? url->address + " " + url->target : "none";
  };
  EXPECT_EQ(parts("https://host"), "https://host:443 /");
  EXPECT_EQ(parts("http://10.0.0.5:8080/a?b=c"), "10.0.0.5:8080 /a?b=c");
  EXPECT_EQ(parts("https://host?token=x"), "https://host:443 /?token=x");
  EXPECT_EQ(parts("http://[::1]/a:b"), "[::1]:80 /a:b");
  for (const char* wrong : {"host", "ftp://host", "https://", "https://host:", "https://host:abc",
                            "https://host:99999", "https://host:0", "https://::1/", "https://[::1",
                            "https://user@host", "https://host/#a", "https://ho st", "https:///path"}) {
    EXPECT_EQ(parts(wrong), "none") << wrong;
  }
}

TEST_F(ReceiversFile, TakesAFingerprintAsOpensslPrintsIt) {
  std::string printed;
  for (int i = 0; i < 32; ++i) {
    printed += i == 0 ? "AB" : ":AB";
  }
  const auto read = read_receivers(
      write("notify.yaml", "receivers: {a: {webhook: 'https://h', fingerprint: '" + printed + "'}}"));
  ASSERT_TRUE(read) << read.error().message;
  std::string digits;
  for (int i = 0; i < 32; ++i) {
    digits += "ab";
  }
  EXPECT_EQ(read->list[0].url.address, "https://h:443#" + digits);
  EXPECT_EQ(
      problem_of("receivers: {a: {webhook: 'https://h', fingerprint: ab}}"),
      "notify.yaml:1: receivers.a.fingerprint: is no SHA-256 of a certificate (64 digits of hexadecimal)");
}

TEST_F(ReceiversFile, RefusesKeysThatAreShortOrNoBase64) {
  write("short", "abc", 0600);
  write("wrong", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", 0600);
  EXPECT_EQ(problem_of("receivers: {a: {webhook: 'https://h', secret_file: short}}"),
            "notify.yaml:1: receivers.a.secret_file: has a key of 3 bytes (an integer from 16 to 4096)");
  EXPECT_EQ(problem_of("receivers: {a: {webhook: 'https://h', secret_file: wrong}}"),
            "notify.yaml:1: receivers.a.secret_file: begins with whsec_ but is not base64 (with = at its "
            "end) behind it");
}

TEST_F(ReceiversFile, RefusesWhatAsksForNothing) {
  EXPECT_EQ(problem_of("receivers: {a: {slack: 'https://h', on: []}}"),
            "notify.yaml:1: receivers.a.on: asks for nothing (any of ended, failed, paused, new_best, "
            "worker_lost)");
  EXPECT_EQ(problem_of("receivers: {}"), "notify.yaml:1: receivers: names nobody (receivers by their names)");
}

TEST_F(ReceiversFile, IsForItsOwnersAlone) {
  const std::string path = write("notify.yaml", "receivers: {a: {slack: https://x}}", 0644);
  const auto read = read_receivers(path);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            path + " has secrets, and other users of this machine may use it; chmod o= " + path);
}

TEST(Receiver, WantsWhatIsOfItsWorkspacesAndLabels) {
  Receiver receiver;
  receiver.on = {Occasion::ended};
  receiver.workspaces = {"vision"};
  Notification ended;
  ended.occasion = Occasion::ended;
  ended.workspace = "vision";
  EXPECT_TRUE(receiver.wants(ended));
  receiver.labels = {"paper", "thesis"};
  EXPECT_FALSE(receiver.wants(ended));
  ended.labels = {"thesis"};
  EXPECT_TRUE(receiver.wants(ended));
  ended.workspace = "speech";
  EXPECT_FALSE(receiver.wants(ended));
  ended.workspace = "vision";
  ended.occasion = Occasion::failed;
  EXPECT_FALSE(receiver.wants(ended));
}

}  // namespace
}  // namespace hpsearch::daemon
