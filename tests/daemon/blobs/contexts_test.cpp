#include "daemon/blobs/contexts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/daemon_fixture.hpp"
#include "daemon/manual_timeline.hpp"
#include "hpsearch/io/archive/context_archive.hpp"
#include "hpsearch/io/archive/context_files.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;

/// The archive of a directory with one file.
std::string archive_with(const std::string& text) {
  const Scratch folder;
  folder.write("train.py", text);
  const auto listed = context::context_files(folder.path());
  const auto packed = context::pack(folder.path(), listed->files);
  return packed ? *packed : packed.error().message;
}

class UploadedContexts : public testing::Test {
 protected:
  UploadedContexts() { start(); }
  void start() {
    contexts_.reset();
    contexts_.emplace(loop_, kernel_files(), folder_.path("contexts"), 10,
                      [this](const net::Background::Task& task) { loop_.post(task()); });
  }
  /// "" = it is stored.
  std::string take(const std::string& archive, const std::string& client, const Scope& scope = {},
                   std::string digest = "") {
    if (digest.empty()) {
      digest = files::sha256_of(archive);
    }
    const std::string part = folder_.path("part");
    write_text(part, archive);
    std::string answer = "nothing";
    contexts_->take(digest, std::make_shared<net::UploadedFile>(part, archive.size(), bytes_),
                    {client, scope},
                    [&answer](const engine::Status& taken) { answer = taken ? "" : taken.error().message; });
    loop_.run_posted();
    return answer;
  }
  [[nodiscard]] std::size_t files() const {
    const std::filesystem::directory_iterator all(folder_.path("contexts"));
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  const std::string one_ = archive_with("one");
  const std::string digest_ = files::sha256_of(one_);
  std::shared_ptr<std::atomic<std::uint64_t>> bytes_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  Scratch folder_;
  ManualTimeline loop_;
  std::optional<Contexts> contexts_;
};

// An upload without an experiment must not stay on the disk for longer.
TEST_F(UploadedContexts, UnusedUploadsAreRemovedAfterAnHour) {
  EXPECT_EQ(take(one_, "ann"), "");
  loop_.pass(Duration::seconds(3599));
  contexts_->keep_only({});
  EXPECT_TRUE(contexts_->find(digest_));
  EXPECT_TRUE(contexts_->was_brought_by(digest_, "ann")) << "and its hour begins again";
  loop_.pass(Duration::seconds(3599));
  contexts_->keep_only({});
  EXPECT_TRUE(contexts_->find(digest_));
  loop_.pass(Duration::seconds(3600));
  contexts_->keep_only({});
  EXPECT_FALSE(contexts_->find(digest_));
  EXPECT_EQ(files(), 0U);
}

TEST_F(UploadedContexts, UsedContextsStayAfterARestart) {
  EXPECT_EQ(take(one_, "ann"), "");
  contexts_->note_use(digest_);
  EXPECT_TRUE(std::filesystem::exists(contexts_->path(digest_)));
  loop_.pass(Duration::seconds(7200));
  contexts_->keep_only({digest_});
  EXPECT_TRUE(contexts_->find(digest_));
  start();
  contexts_->keep_only({});
  loop_.pass(Duration::seconds(7200));
  contexts_->keep_only({});
  EXPECT_TRUE(contexts_->find(digest_)) << "a week, for whoever brings another copy of the store back";
}

TEST_F(UploadedContexts, BecomeUsedAtTheStartAfterAKill) {
  EXPECT_EQ(take(one_, "ann"), "");
  start();
  EXPECT_TRUE(contexts_->find(digest_));
  contexts_->keep_only({digest_});
  EXPECT_TRUE(std::filesystem::exists(folder_.path("contexts/" + digest_ + ".tar")));
  EXPECT_EQ(files(), 1U);
}

// A digest alone was enough to read and run a context of another workspace.
TEST_F(UploadedContexts, BelongToTheirUploaders) {
  EXPECT_EQ(take(one_, "ann"), "");
  EXPECT_TRUE(contexts_->was_brought_by(digest_, "ann"));
  EXPECT_FALSE(contexts_->was_brought_by(digest_, "bob"));
  EXPECT_NE(take(archive_with("two"), "bob", {}, digest_), "") << "the digest alone brings nothing";
  EXPECT_FALSE(contexts_->was_brought_by(digest_, "bob"));
  contexts_->note_use(digest_);
  EXPECT_EQ(take(one_, "bob"), "");
  EXPECT_TRUE(contexts_->was_brought_by(digest_, "bob"));
  EXPECT_EQ(files(), 1U);
}

TEST_F(UploadedContexts, CountForTheirClientAndItsWorkspacesUntilTheyAreUsed) {
  EXPECT_EQ(take(one_, "ann", Scope({"nlp"})), "");
  EXPECT_EQ(contexts_->uploaded_by("ann"), one_.size());
  EXPECT_EQ(contexts_->uploaded_by("bob"), 0U);
  EXPECT_EQ(contexts_->uploaded_to("nlp"), one_.size());
  EXPECT_EQ(contexts_->uploaded_to("vision"), 0U);
  contexts_->note_use(digest_);
  EXPECT_EQ(contexts_->uploaded_by("ann"), 0U);
  EXPECT_EQ(contexts_->uploaded_to("nlp"), 0U);
}

/// A daemon that keeps contexts and requires tokens, with a submitter in each of two workspaces.
class ContextsOfWorkspaces : public testing::Test {
 protected:
  ContextsOfWorkspaces() {
    daemon_.contexts = std::make_unique<Contexts>(
        daemon_.loop, kernel_files(), (daemon_.folder.path() / "contexts").string(), 1,
        [this](const net::Background::Task& task) { writer_.run(task); });
    daemon_.serve_http(false);
  }
  ~ContextsOfWorkspaces() override { daemon_.http.reset(); }

  net::HttpHeaders submitter(const std::string& name, const std::string& workspace) {
    const auto made = daemon_.tokens.create(name, Role::submit, Tokens::usual_life, "uid 0",
                                            daemon_.runtime->now(), Scope({workspace}));
    return {{"Authorization", "Bearer " + (made ? made->text : made.error().message)}};
  }
  unsigned put(const std::string& archive, net::HttpHeaders headers) {
    headers.emplace_back("Content-Type", "application/x-tar");
    return daemon_.ask("PUT", "/api/v1/contexts/" + files::sha256_of(archive), archive, headers).status;
  }
  DaemonFixture::Answer submit(const std::string& digest, const std::string& workspace,
                               const net::HttpHeaders& headers) {
    engine::Value config = small_search(1);
    (*config.as_map())["workspace"] = workspace;
    (*config.as_map())["project"] = "letters";
    return daemon_.ask(
        "POST", "/api/v1/experiments",
        engine::compact_json(engine::Value::Map{{"config", config}, {"context_digest", digest}}), headers);
  }

  const std::string archive_ = archive_with("secret");
  const std::string digest_ = files::sha256_of(archive_);
  DaemonFixture daemon_;
  net::Background writer_{daemon_.loop, 1};
};

TEST_F(ContextsOfWorkspaces, DigestGivesNoAccessFromAnotherWorkspace) {
  const net::HttpHeaders ann = submitter("ann", "nlp");
  const net::HttpHeaders bob = submitter("bob", "vision");
  ASSERT_EQ(put(archive_, ann), 201U);
  const std::string path = "/api/v1/contexts/" + digest_;
  const auto theirs = [&] {
    const auto hers = daemon_.ask("GET", path, "", ann);
    EXPECT_EQ(hers.status, 200U);
    EXPECT_EQ(hers.text, archive_);
    EXPECT_EQ(hers.header("ETag"), "\"" + digest_ + "\"");
    EXPECT_EQ(daemon_.ask("HEAD", path, "", ann).header("Content-Length"), std::to_string(archive_.size()));
    EXPECT_EQ(daemon_.ask("GET", path, "", bob).status, 404U);
    EXPECT_EQ(daemon_.ask("HEAD", path, "", bob).status, 404U);
    const auto refused = submit(digest_, "vision", bob);
    EXPECT_EQ(refused.status, 409U) << refused.text;
    EXPECT_NE(refused.text.find("does not have the context"), std::string::npos) << refused.text;
  };
  theirs();
  const auto made = submit(digest_, "nlp", ann);
  ASSERT_EQ(made.status, 201U) << made.text;
  theirs();
  EXPECT_EQ(daemon_.ask("GET", path, "", submitter("cid", "nlp")).status, 200U) << "of the same workspace";
  ASSERT_EQ(put(archive_, bob), 201U);
  EXPECT_EQ(submit(digest_, "vision", bob).status, 201U) << "it has the context itself";
}

TEST_F(ContextsOfWorkspaces, UploadsCountForTheQuota) {
  engine::Quota quota;
  quota.max_context_bytes = archive_.size() + 10;
  ASSERT_TRUE(daemon_.runtime->perform(engine::CreateWorkspace{"nlp"}));
  ASSERT_TRUE(daemon_.runtime->perform(engine::ChangeQuota{"nlp", quota}));
  const net::HttpHeaders ann = submitter("ann", "nlp");
  EXPECT_EQ(put(archive_, ann), 201U);
  EXPECT_EQ(put(archive_, ann), 201U) << "the same again";
  EXPECT_EQ(put(archive_with("other"), ann), 429U);
  EXPECT_EQ(put(archive_with("other"), submitter("bob", "vision")), 201U);
}

}  // namespace
}  // namespace hpsearch::daemon
