#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "daemon/audit/audit_files.hpp"
#include "daemon/audit_log.hpp"
#include "daemon/daemon_fixture.hpp"

namespace hpsearch::daemon {
namespace {

AuditEntry change_by(const std::string& name) {
  return {.at = 1'800'000'000'000'000,
          .request = "r1",
          .channel = "tcp",
          .from = "10.0.0.7",
          .name = name,
          .token = "aaaaaaaa",
          .role = "operator",
          .method = "POST",
          .path = "/api/v1/experiments/1/pause",
          .status = 200};
}

/// An audit log in a directory of its own.
class AuditChain : public testing::Test {
 protected:
  void append(const std::vector<std::string>& names, std::uint64_t part_bytes = AuditFiles::most_bytes) {
    auto files = AuditFiles::open(directory(), part_bytes);
    ASSERT_TRUE(files) << files.error().message;
    for (const std::string& name : names) {
      const std::vector<AuditEntry> one{change_by(name)};
      ASSERT_TRUE(files->append(one));
    }
  }
  [[nodiscard]] std::string directory() const { return folder_.path().string(); }
  [[nodiscard]] std::string file() const { return directory() + "/audit.jsonl"; }
  [[nodiscard]] std::string problem() const {
    const auto verdict = AuditFiles::verify(directory());
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? verdict->problem : "";
  }
  void replace(const std::string& from, const std::string& to) {
    std::string text = text_of(file());
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write_text(file(), text.replace(at, from.size(), to));
  }

 private:
  Scratch folder_;
};

TEST_F(AuditChain, GoesOnAfterAStart) {
  append({"ann", "bob"});
  append({"cid"});
  const auto verdict = AuditFiles::verify(directory());
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->problem, "");
  EXPECT_EQ(verdict->lines, 3U);
  EXPECT_EQ(verdict->last.number, 3U);
  struct stat about {};
  ASSERT_EQ(::stat(file().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(AuditChain, AChangedLineIsFound) {
  append({"ann", "bob", "cid"});
  replace("\"ann\"", "\"eve\"");
  EXPECT_NE(problem().find("line 2: does not have the hash"), std::string::npos) << problem();
}

TEST_F(AuditChain, ARemovedLineIsFound) {
  append({"ann", "bob", "cid"});
  const std::string text = text_of(file());
  const std::size_t first = text.find('\n') + 1;
  const std::size_t second = text.find('\n', first) + 1;
  write_text(file(), text.substr(0, first) + text.substr(second));
  EXPECT_NE(problem().find("line 2: has number 3"), std::string::npos) << problem();
  write_text(file(), text.substr(first));
  EXPECT_NE(problem().find("line 1: has number 2"), std::string::npos) << problem();
}

TEST_F(AuditChain, LinesThatAreCutOffAtTheEndAreFoundByAHashThatWasKept) {
  append({"ann", "bob", "cid"});
  const std::string kept = AuditFiles::verify(directory())->last.hash;
  append({"dan"});
  EXPECT_EQ(AuditFiles::verify(directory(), kept)->problem, "");
  const std::string text = text_of(file());
  write_text(file(), text.substr(0, text.find('\n', text.find('\n') + 1) + 1));
  EXPECT_EQ(problem(), "") << "the rest is a chain";
  EXPECT_NE(AuditFiles::verify(directory(), kept)->problem.find("cut off"), std::string::npos);
}

TEST_F(AuditChain, ALineThatACrashCutOffIsRemoved) {
  append({"ann"});
  std::ofstream(file(), std::ios::app) << R"({"number":2,"time")";
  EXPECT_EQ(problem(), "") << "it was not answered";
  append({"bob"});
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(AuditFiles::read(directory(), 0, 10)->size(), 2U);
}

TEST_F(AuditChain, SpansItsParts) {
  append({"a", "b", "c", "d", "e"}, 300);  // One line a part, or two.
  EXPECT_TRUE(std::filesystem::exists(file() + ".1"));
  EXPECT_EQ(problem(), "");
  append({"f"}, 300);
  const auto lines = AuditFiles::read(directory(), 2, 3);
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ(*lines->front().as_map()->find("name")->as_text(), "c");
  std::filesystem::remove(file() + ".1");
  EXPECT_NE(problem(), "");
}

TEST_F(AuditChain, OfManyPartsTheOldestGoes) {
  std::vector<std::string> names(30, "ann");
  append(names, 1);
  EXPECT_EQ(problem(), "") << "what fell off the end is no damage";
  EXPECT_FALSE(std::filesystem::exists(file() + ".11"));
  EXPECT_EQ(AuditFiles::read(directory(), 0, 100)->size(), 11U);
}

/// A daemon with an audit log, which asks for tokens.
class AuditedDaemon : public testing::Test {
 protected:
  AuditedDaemon() {
    auto files = AuditFiles::open(daemon_.folder.path().string());
    EXPECT_TRUE(files) << files.error().message;
    log_.emplace(daemon_.loop, *std::move(files));
    daemon_.audit = &*log_;
    daemon_.serve_http(false);
    const auto made =
        daemon_.tokens.create("ci", Role::operate, Tokens::usual_life, "uid 0", daemon_.runtime->now());
    EXPECT_TRUE(made);
    bearer_ = {{"Authorization", "Bearer " + made->text}};
  }
  ~AuditedDaemon() override { daemon_.http.reset(); }

  [[nodiscard]] std::vector<engine::Value> lines() const {
    const auto lines = AuditFiles::read(daemon_.folder.path().string(), 0, 100);
    EXPECT_TRUE(lines) << lines.error().message;
    return lines ? *lines : std::vector<engine::Value>();
  }
  static std::string at(const engine::Value& line, const char* key) {
    return engine::compact_json(*line.as_map()->find(key));
  }

  DaemonFixture daemon_;
  std::optional<AuditLog> log_;
  net::HttpHeaders bearer_;
};

TEST_F(AuditedDaemon, RecordsEachChangeBeforeItIsAnswered) {
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "{}", bearer_).status, 404U);
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(at(lines()[0], "name"), "\"token ci\"");
  EXPECT_EQ(at(lines()[0], "path"), "\"/api/v1/experiments/1/pause\"");
  EXPECT_EQ(at(lines()[0], "status"), "404");
  EXPECT_EQ(at(lines()[0], "from"), "\"127.0.0.1\"");
}

TEST_F(AuditedDaemon, RecordsRefusalsAndSignInsButNotReads) {
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", bearer_).status, 200U);
  EXPECT_EQ(daemon_.ask("GET", "/").status, 200U);
  EXPECT_EQ(lines().size(), 0U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/tokens", "", bearer_).status, 403U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status").status, 401U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", R"({"token":"x"})").status, 401U);
  daemon_.pump_until([&] { return lines().size() >= 3; });
  for (const engine::Value& line : lines()) {
    EXPECT_NE(at(line, "status"), "200");
  }
}

TEST_F(AuditedDaemon, NamesWhatWasChangedOrMadeAndItsWorkspace) {
  engine::Value config = small_search(1);
  (*config.as_map())["workspace"] = "nlp";
  (*config.as_map())["project"] = "letters";
  const std::string body = engine::compact_json(engine::Value::Map{{"config", config}});
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/experiments", body, bearer_).status, 201U);
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "{}", bearer_).status, 200U);
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/experiments/2/pause", "{}", bearer_).status, 404U);
  ASSERT_EQ(lines().size(), 3U);
  for (const std::size_t line : {0U, 1U}) {
    EXPECT_EQ(at(lines()[line], "resource"), "\"experiments/1\"");
    EXPECT_EQ(at(lines()[line], "workspace"), "\"nlp\"");
  }
  EXPECT_EQ(at(lines()[2], "resource"), "\"experiments/2\"");
  EXPECT_EQ(at(lines()[2], "workspace"), "\"\"");
}

TEST_F(AuditedDaemon, DoesNotRecordWhatWorkersHandOver) {
  // On the Unix socket a worker has the role of the daemon's user; here it has that of a token.
  net::HttpHeaders headers = bearer_;
  headers.emplace_back("Content-Type", "application/zstd");
  const auto answer = daemon_.ask("PUT", "/api/v1/logs/1/1/1", "x", headers);
  EXPECT_EQ(answer.status / 100, 4U) << answer.text << " without the key of a worker's session";
  EXPECT_NE(answer.status, 403U) << answer.text;
  EXPECT_EQ(lines().size(), 0U);
}

TEST_F(AuditedDaemon, RecordsReadsIfItIsToldTo) {
  daemon_.audits_reads = true;
  daemon_.serve_http(false);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", bearer_).status, 200U);
  EXPECT_EQ(daemon_.ask("GET", "/healthz").status, 200U) << "by nobody";
  daemon_.pump_until([&] { return !lines().empty(); });
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(at(lines()[0], "path"), "\"/api/v1/status\"");
  EXPECT_EQ(at(lines()[0], "status"), "200");
}

TEST_F(AuditedDaemon, RefusesChangesAndNoReadsWhileItCannotBeWritten) {
  daemon_.audits_reads = true;
  log_.emplace(daemon_.loop,
               *AuditFiles::open(daemon_.folder.path().string(), 1));  // Each line begins a part.
  daemon_.audit = &*log_;
  daemon_.serve_http(false);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "{}", bearer_).status, 404U);
  std::filesystem::create_directory(daemon_.folder.path() /
                                    "audit.jsonl.10");  // Where the next one has to go.
  std::ofstream(daemon_.folder.path() / "audit.jsonl.9") << "x";
  const auto refused = daemon_.ask("POST", "/api/v1/experiments/1/pause", "{}", bearer_);
  EXPECT_EQ(refused.status, 507U) << refused.text;
  EXPECT_NE(refused.at("error.message").find("audit log"), std::string::npos);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", bearer_).status, 200U);
}

TEST_F(AuditedDaemon, NoSecretIsInIt) {
  const std::string body = R"({"token":")" + bearer_[0].second.substr(7) + "\"}";
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", body).status, 200U);
  const std::string text = text_of(daemon_.folder.path() / "audit.jsonl");
  EXPECT_NE(text.find("/api/v1/session"), std::string::npos);
  EXPECT_EQ(text.find("hps_"), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::daemon
