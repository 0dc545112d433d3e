#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "daemon/audit/audit_files.hpp"
#include "daemon/audit/refusal_counts.hpp"
#include "daemon/core/audit_queue.hpp"
#include "daemon/daemon_fixture.hpp"
#include "messages.hpp"

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

/// The log of changes, split into small parts.
AuditKind in_parts_of(std::uint64_t bytes) {
  return {audited_changes.name, bytes, audited_changes.most_parts};
}

/// An audit log in its own directory.
class AuditChain : public testing::Test {
 protected:
  void append(const std::vector<std::string>& names, std::uint64_t part_bytes = audited_changes.part_bytes) {
    auto files = AuditFiles::open(directory(), in_parts_of(part_bytes));
    ASSERT_TRUE(files) << files.error().message;
    for (const std::string& name : names) {
      const std::vector<AuditEntry> one{change_by(name)};
      ASSERT_TRUE(files->append(one));
    }
  }
  [[nodiscard]] std::string directory() const { return folder_.path().string(); }
  [[nodiscard]] std::string file() const { return directory() + "/audit.jsonl"; }
  [[nodiscard]] std::string problem() const {
    const auto verdict = AuditFiles::verify(directory(), audited_changes);
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

TEST_F(AuditChain, ContinuesAfterARestart) {
  append({"ann", "bob"});
  append({"cid"});
  const auto verdict = AuditFiles::verify(directory(), audited_changes);
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
  EXPECT_MESSAGE(problem());
}

TEST_F(AuditChain, ARemovedLineIsFound) {
  append({"ann", "bob", "cid"});
  const std::string text = text_of(file());
  const std::size_t first = text.find('\n') + 1;
  const std::size_t second = text.find('\n', first) + 1;
  write_text(file(), text.substr(0, first) + text.substr(second));
  EXPECT_MESSAGE(problem());
  write_text(file(), text.substr(first));
  EXPECT_MESSAGE(problem());
}

TEST_F(AuditChain, TruncationIsFoundByAKnownHash) {
  append({"ann", "bob", "cid"});
  const std::string kept = AuditFiles::verify(directory(), audited_changes)->last.hash;
  append({"dan"});
  EXPECT_EQ(AuditFiles::verify(directory(), audited_changes, kept)->problem, "");
  const std::string text = text_of(file());
  write_text(file(), text.substr(0, text.find('\n', text.find('\n') + 1) + 1));
  EXPECT_EQ(problem(), "") << "the rest is a chain";
  EXPECT_MESSAGE(AuditFiles::verify(directory(), audited_changes, kept)->problem);
}

TEST_F(AuditChain, LineCutOffByACrashIsRemoved) {
  append({"ann"});
  std::ofstream(file(), std::ios::app) << R"({"number":2,"time")";
  EXPECT_EQ(problem(), "") << "it was not answered";
  append({"bob"});
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(AuditFiles::read(directory(), audited_changes, 0, 10)->size(), 2U);
}

TEST_F(AuditChain, SpansItsParts) {
  append({"a", "b", "c", "d", "e"}, 300);  // One or two lines per part.
  EXPECT_TRUE(std::filesystem::exists(file() + ".1"));
  EXPECT_EQ(problem(), "");
  append({"f"}, 300);
  const auto lines = AuditFiles::read(directory(), audited_changes, 2, 3);
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ(*lines->front().as_map()->find("name")->as_text(), "c");
  std::filesystem::remove(file() + ".1");
  EXPECT_NE(problem(), "");
}

TEST_F(AuditChain, OldestPartIsRemoved) {
  std::vector<std::string> names(30, "ann");
  append(names, 1);
  EXPECT_EQ(problem(), "") << "what fell off the end is no damage";
  EXPECT_FALSE(std::filesystem::exists(file() + ".11"));
  EXPECT_EQ(AuditFiles::read(directory(), audited_changes, 0, 100)->size(), 11U);
}

// A log that got another part while it was read was reported as damaged.
TEST_F(AuditChain, CanBeReadWhileTheDaemonBeginsNewParts) {
  auto files = AuditFiles::open(directory(), in_parts_of(1));
  ASSERT_TRUE(files) << files.error().message;
  std::atomic<bool> done = false;
  std::thread daemon([&] {
    const std::vector<AuditEntry> one{change_by("ann")};
    for (int i = 0; i < 400; ++i) {
      EXPECT_TRUE(files->append(one));
    }
    done = true;
  });
  while (!done) {
    const auto verdict = AuditFiles::verify(directory(), audited_changes);
    EXPECT_EQ(verdict ? verdict->problem : "", "");
    EXPECT_TRUE(AuditFiles::read(directory(), audited_changes, 0, 100));
  }
  daemon.join();
}

TEST(RefusalCounts, FirstRefusalsOfASourceInAMinuteHaveLines) {
  RefusalCounts counts;
  AuditEntry entry = change_by("");
  entry.token = "";
  entry.status = 401;
  unsigned lines = 0;
  for (int i = 0; i < 100; ++i) {
    lines += counts.take(entry) ? 1U : 0U;
  }
  EXPECT_EQ(lines, RefusalCounts::first_few);
  entry.from = "10.0.0.8";
  EXPECT_TRUE(counts.take(entry)) << "of another source";
  const auto now = engine::Instant::from_micros(entry.at);
  EXPECT_TRUE(counts.sums(now + engine::Duration::seconds(59)).empty());
  const auto sums = counts.sums(now + RefusalCounts::minute);
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].from, "10.0.0.7");
  EXPECT_EQ(sums[0].count, 95U);
  EXPECT_EQ(sums[0].path, "");
  entry.at += RefusalCounts::minute.in_micros();
  EXPECT_TRUE(counts.take(entry)) << "the next minute begins anew";
}

TEST(RefusalCounts, ManySourcesTogetherAreLimited) {
  RefusalCounts counts;
  AuditEntry entry = change_by("");
  entry.token = "";
  unsigned lines = 0;
  for (int i = 0; i < 20'000; ++i) {
    entry.from = "fd00::" + std::to_string(i);
    lines += counts.take(entry) ? 1U : 0U;
  }
  EXPECT_EQ(lines, RefusalCounts::most_lines);
  const auto sums = counts.all_sums();
  EXPECT_LE(sums.size(), RefusalCounts::most_sources + 1);
  std::uint64_t counted = 0;
  for (const AuditEntry& sum : sums) {
    counted += sum.count;
  }
  EXPECT_EQ(counted + lines, 20'000U);
}

TEST(AuditEntries, TextsOfClientsAreCut) {
  AuditEntry entry = change_by("ann");
  entry.path = "/api/v1/" + std::string(8'000, 'x');
  entry.method = std::string(5'000, 'M');
  AuditLink link;
  EXPECT_LT(audit_line(cut_to_size(entry), link).size(), 1'200U);
  entry.path = std::string(255, 'x') + "\xc3\xa9";
  EXPECT_EQ(cut_to_size(entry).path, std::string(255, 'x') + "...") << "no half of a letter";
}

/// A daemon with an audit log that requires tokens.
class AuditedDaemon : public testing::Test {
 protected:
  AuditedDaemon() {
    open(audited_changes);
    const auto made =
        daemon_.tokens.create("ci", Role::operate, Tokens::usual_life, "uid 0", daemon_.runtime->now());
    EXPECT_TRUE(made);
    bearer_ = {{"Authorization", "Bearer " + made->text}};
  }
  ~AuditedDaemon() override { daemon_.http.reset(); }

  void open(const AuditKind& changes) {
    const std::string folder = daemon_.folder.path().string();
    log_.emplace(daemon_.loop, *AuditFiles::open(folder, changes),
                 *AuditFiles::open(folder, audited_refusals));
    daemon_.audit = &*log_;
    daemon_.serve_http(false);
  }

  [[nodiscard]] std::vector<engine::Value> refusals() const { return lines(audited_refusals); }
  [[nodiscard]] std::vector<engine::Value> lines(const AuditKind& kind = audited_changes) const {
    const auto lines = AuditFiles::read(daemon_.folder.path().string(), kind, 0, 1'000);
    EXPECT_TRUE(lines) << lines.error().message;
    return lines ? *lines : std::vector<engine::Value>();
  }
  static std::string at(const engine::Value& line, const char* key) {
    return engine::compact_json(*line.as_map()->find(key));
  }

  DaemonFixture daemon_;
  std::optional<AuditQueue> log_;
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

TEST_F(AuditedDaemon, RecordsRefusalsInTheirOwnLogAndNoReads) {
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", bearer_).status, 200U);
  EXPECT_EQ(daemon_.ask("GET", "/").status, 200U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/tokens", "", bearer_).status, 403U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status").status, 401U);
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", R"({"token":"x"})").status, 401U);
  daemon_.pump_until([&] { return refusals().size() >= 3; });
  EXPECT_EQ(refusals().size(), 3U);
  EXPECT_EQ(at(refusals()[0], "name"), "\"token ci\"");
  EXPECT_EQ(at(refusals()[0], "status"), "403");
  EXPECT_EQ(at(refusals()[1], "status"), "401");
  EXPECT_EQ(at(refusals()[2], "path"), "\"/api/v1/session\"");
  EXPECT_EQ(lines().size(), 0U);
}

// Four connections without a token made 2 GB of log and 1.3 GB of memory in 25 seconds.
TEST_F(AuditedDaemon, UnknownCallersCauseFewShortLines) {
  const std::string path = "/api/v1/" + std::string(4'000, 'a');
  for (int i = 0; i < 40; ++i) {
    const char* method = i % 2 == 0 ? "POST" : "GET";
    EXPECT_EQ(daemon_.ask(method, path).status, 401U);
    EXPECT_GE(daemon_.ask("POST", "/api/v1/session", i % 2 == 0 ? R"({"token":"x"})" : "{}").status, 400U);
  }
  log_.reset();  // Writes the counts.
  daemon_.audit = nullptr;
  EXPECT_EQ(lines().size(), 0U)
      << "what a stranger asks for changes nothing, and moves no line about a change";
  ASSERT_EQ(refusals().size(), RefusalCounts::first_few + 1);
  EXPECT_EQ(at(refusals().back(), "count"), std::to_string(80 - RefusalCounts::first_few));
  EXPECT_LT(text_of(daemon_.folder.path() / "refusals.jsonl").size(), 8'000U);
  EXPECT_EQ(AuditFiles::verify(daemon_.folder.path().string(), audited_refusals)->problem, "");
}

TEST_F(AuditedDaemon, RefusalsOfATokenDisplaceNoChange) {
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/tokens", R"({"name":"a","role":"admin"})", bearer_).status, 403U);
  daemon_.pump_until([&] { return refusals().size() == 1; });
  EXPECT_EQ(at(refusals()[0], "path"), "\"/api/v1/tokens\"");
  EXPECT_EQ(lines().size(), 0U);
}

// A new part begins only between two groups.
TEST_F(AuditedDaemon, ManyChangesAtOnceAreWrittenInGroups) {
  daemon_.http.reset();
  open(in_parts_of(1));
  std::size_t left = 4 * AuditQueue::at_once;
  for (std::size_t i = left; i > 0; --i) {
    log_->record(change_by("ann"), [&left](const engine::Status& written) {
      EXPECT_TRUE(written) << written.error().message;
      --left;
    });
  }
  daemon_.pump_until([&] { return left == 0; });
  for (const char* part : {"audit.jsonl.1", "audit.jsonl.2", "audit.jsonl.3"}) {
    const std::string text = text_of(daemon_.folder.path() / part);
    EXPECT_GT(text.size(), 0U) << part;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), AuditQueue::at_once) << part;
  }
}

TEST_F(AuditedDaemon, NamesTheChangedObjectAndItsWorkspace) {
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

TEST_F(AuditedDaemon, DoesNotRecordUploadsOfWorkers) {
  // On the Unix socket a worker has the role of the daemon's user; here it has that of a token.
  net::HttpHeaders headers = bearer_;
  headers.emplace_back("Content-Type", "application/zstd");
  const auto answer = daemon_.ask("PUT", "/api/v1/logs/1/1/1", "x", headers);
  EXPECT_EQ(answer.status / 100, 4U) << answer.text << " without the key of a worker's session";
  EXPECT_NE(answer.status, 403U) << answer.text;
  EXPECT_EQ(lines().size(), 0U);
}

TEST_F(AuditedDaemon, RecordsReadsIfConfigured) {
  daemon_.audits_reads = true;
  daemon_.serve_http(false);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", bearer_).status, 200U);
  EXPECT_EQ(daemon_.ask("GET", "/healthz").status, 200U) << "by an anonymous caller";
  daemon_.pump_until([&] { return !lines().empty(); });
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(at(lines()[0], "path"), "\"/api/v1/status\"");
  EXPECT_EQ(at(lines()[0], "status"), "200");
}

TEST_F(AuditedDaemon, RefusesOnlyChangesWhileTheLogCannotBeWritten) {
  daemon_.audits_reads = true;
  daemon_.http.reset();
  open(in_parts_of(1));  // Each line begins a part.
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/pause", "{}", bearer_).status, 404U);
  std::filesystem::create_directory(daemon_.folder.path() /
                                    "audit.jsonl.10");  // The next part must be renamed to this.
  std::ofstream(daemon_.folder.path() / "audit.jsonl.9") << "x";
  const auto refused = daemon_.ask("POST", "/api/v1/experiments/1/pause", "{}", bearer_);
  EXPECT_EQ(refused.status, 507U) << refused.text;
  EXPECT_MESSAGE(refused.at("error.message"));
  EXPECT_GE(log_->failures(), 1U);
  EXPECT_EQ(daemon_.ask("GET", "/api/v1/status", "", bearer_).status, 200U);
}

TEST_F(AuditedDaemon, LogContainsNoSecret) {
  const std::string body = R"({"token":")" + bearer_[0].second.substr(7) + "\"}";
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/session", body).status, 200U);
  const std::string text = text_of(daemon_.folder.path() / "audit.jsonl");
  EXPECT_NE(text.find("/api/v1/session"), std::string::npos);
  EXPECT_EQ(text.find("hps_"), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::daemon
