#include "hpsearch/workers/shell/transfer/context_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "hpsearch/io/archive/context_archive.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/io/http/http.hpp"
#include "scratch.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Errc;

TEST(ContextsAddress, IsTheDaemonsOrTheReachedHost) {
  EXPECT_EQ(contexts_address("127.0.0.1:8077", "tcp://127.0.0.1:8078"), "127.0.0.1:8077");
  EXPECT_EQ(contexts_address("10.0.0.5:8077", "tcp://head:8078"), "10.0.0.5:8077");
  EXPECT_EQ(contexts_address("0.0.0.0:8077", "tcp://head.cluster:8078"), "head.cluster:8077");
  EXPECT_EQ(contexts_address("[::]:8077", "tcp://[fe80::1]:8078"), "[fe80::1]:8077");
  EXPECT_EQ(contexts_address("https://0.0.0.0:8077#ab", "tcp://head:8078"), "https://head:8077#ab");
  EXPECT_EQ(contexts_address("https://10.0.0.5:8077#ab", "tcp://head:8078"), "https://10.0.0.5:8077#ab");
  EXPECT_EQ(contexts_address("", "tcp://head:8078"), "");
}

/// A daemon with contexts, in a thread.
class Contexts : public testing::Test {
 protected:
  void SetUp() override {
    auto listening = net::HttpServer::listen(
        loop_, "127.0.0.1:0", [this](net::HttpRequest request, net::HttpServer::Reply reply) {
          const std::scoped_lock lock(mutex_);
          asked_ += request.method == "GET" ? 1U : 0U;
          if (request.method == "HEAD" && announced_) {
            reply({200, "application/x-tar", *announced_});
            return;
          }
          const auto found = shelf_.find(request.path.substr(request.path.rfind('/') + 1));
          if (found == shelf_.end()) {
            reply({404, "text/plain", ""});
            return;
          }
          const std::string_view range = request.header("Range");
          if (const std::size_t dash = range.find('-'); ranged_ && dash != std::string_view::npos) {
            const std::uint64_t from = std::stoull(std::string(range.substr(6, dash - 6)));
            const std::uint64_t to = std::stoull(std::string(range.substr(dash + 1)));
            const bool breaks = asked_ == broken_;
            reply(breaks ? net::HttpResponse{503, "text/plain", ""}
                         : net::HttpResponse{206, "application/x-tar",
                                             found->second.substr(from, to - from + 1)});
            return;
          }
          reply({200, "application/x-tar", found->second});
        });
    ASSERT_TRUE(listening);
    server_ = std::move(listening).value();
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override {
    loop_.post([this] { server_.reset(); });
    thread_.join();
  }

  /// Adds a context; returns its digest.
  std::string shelve(const std::string& text) {
    const Scratch context;
    context.write("src/train.py", text);
    const auto files = context::context_files(context.path());
    const std::string bytes = *context::pack(context.path(), files->files);
    const std::scoped_lock lock(mutex_);
    return shelf_.emplace(files::sha256_of(bytes), bytes).first->first;
  }
  std::unique_ptr<ContextCache> open(std::uint64_t most_bytes = 1'000'000,
                                     const std::string& boot = "boot-1") {
    auto cache = std::make_unique<ContextCache>(scratch_.path() / "contexts", boot, most_bytes);
    cache->fetch_from({server_->address(), ""});
    return cache;
  }
  [[nodiscard]] std::size_t trees() const {
    std::size_t count = 0;
    for (const auto& boot : fs::directory_iterator(scratch_.path() / "contexts")) {
      for (const auto& tree : fs::directory_iterator(boot)) {
        static_cast<void>(tree);
        ++count;
      }
    }
    return count;
  }

  Scratch scratch_;
  net::Loop loop_;
  std::unique_ptr<net::HttpServer> server_;
  std::thread thread_;
  std::mutex mutex_;
  std::map<std::string, std::string> shelf_;
  std::optional<std::string> announced_;  ///< The answer to a HEAD, in place of the real length.
  std::atomic<unsigned> asked_ = 0;
  bool ranged_ = false;  ///< Answers what Range selects.
  unsigned broken_ = 0;  ///< The request that fails, counted from 1.
};

TEST_F(Contexts, AreFetchedAndUnpackedOnceForAll) {
  const std::string digest = shelve("print(1)\n");
  const auto cache = open();
  std::vector<std::thread> attempts;
  std::vector<ContextCache::Tree> trees(8);
  for (ContextCache::Tree& tree : trees) {
    attempts.emplace_back([&] {
      auto got = cache->provide(digest);
      EXPECT_TRUE(got) << (got ? "" : got.error().message);
      tree = got ? *got : nullptr;
    });
  }
  for (std::thread& attempt : attempts) {
    attempt.join();
  }
  for (const ContextCache::Tree& tree : trees) {
    ASSERT_NE(tree, nullptr);
    EXPECT_EQ(*tree, *trees.front());
  }
  EXPECT_EQ(text_of(*trees.front() / "src/train.py"), "print(1)\n");
  EXPECT_EQ(asked_, 1U);
}

TEST_F(Contexts, MustHaveTheirAnnouncedLength) {
  const std::string digest = shelve("print(1)\n");
  announced_ = "short";
  const auto longer = open()->provide(digest);
  ASSERT_FALSE(longer);
  EXPECT_NE(longer.error().message.find("is longer than 5 bytes"), std::string::npos)
      << longer.error().message;
  announced_ = shelf_.at(digest);
  EXPECT_TRUE(open()->provide(digest));
}

TEST_F(Contexts, ContinueBehindThePieceThatCameLast) {
  const std::string text(std::size_t{20} << 20U, 'x');  // Three pieces.
  const std::string digest = shelve(text);
  ranged_ = true;
  broken_ = 2;
  const auto tree = open()->provide(digest);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(text_of(**tree / "src/train.py"), text);
  EXPECT_EQ(asked_, 4U);
}

TEST_F(Contexts, OutliveTheAgentButNotTheMachine) {
  const std::string digest = shelve("print(1)\n");
  ASSERT_TRUE(open()->provide(digest));
  ASSERT_TRUE(open()->provide(digest));
  EXPECT_EQ(asked_, 1U) << "the next agent has it still";
  ASSERT_TRUE(open(1'000'000, "boot-2")->provide(digest));
  EXPECT_EQ(asked_, 2U) << "what was not synced before a crash is not trusted";
  EXPECT_EQ(trees(), 1U);
}

TEST_F(Contexts, IncompleteOnesOfAKilledAgentAreRemoved) {
  const std::string digest = shelve("print(1)\n");
  const fs::path boot = scratch_.path() / "contexts" / "boot-1";
  write_text(boot / "draft-77-1" / "src" / "train.py", "pri");
  const auto cache = open();
  EXPECT_EQ(trees(), 0U);
  const auto tree = cache->provide(digest);
  ASSERT_TRUE(tree);
  EXPECT_EQ(text_of(**tree / "src/train.py"), "print(1)\n");
}

TEST_F(Contexts, TwoAgentsMayUnpackTheSame) {
  const std::string digest = shelve("print(1)\n");
  const auto one = open();
  const auto other = open();
  ASSERT_TRUE(one->provide(digest));
  const auto tree = other->provide(digest);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(text_of(**tree / "src/train.py"), "print(1)\n");
  EXPECT_EQ(trees(), 1U);
}

TEST_F(Contexts, WrongDigestIsRefused) {
  const std::string digest = shelve("print(1)\n");
  const std::string other = shelve("print(2)\n");
  {
    const std::scoped_lock lock(mutex_);
    std::swap(shelf_[digest], shelf_[other]);
  }
  const auto tree = open()->provide(digest);
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().code, Errc::unavailable) << "later it may be right";
  EXPECT_NE(tree.error().message.find("another digest"), std::string::npos) << tree.error().message;
  EXPECT_EQ(fs::exists(scratch_.path() / "contexts") ? trees() : 0, 0U);
}

TEST_F(Contexts, AbsentOneAndAbsentDaemonAreDistinct) {
  const std::string digest = shelve("print(1)\n");
  const auto gone = open()->provide(std::string(64, 'a'));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Errc::not_found);
  ContextCache unknown(scratch_.path() / "contexts", "boot-1", 1);
  EXPECT_EQ(unknown.provide(digest).error().code, Errc::unavailable) << "no daemon has said where";
  unknown.fetch_from({"127.0.0.1:1", ""});
  const auto away = unknown.provide(digest);
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, Errc::unavailable);
  EXPECT_NE(away.error().message.find("127.0.0.1:1"), std::string::npos) << away.error().message;
}

TEST_F(Contexts, LeastRecentlyUsedAreRemovedAndThoseInUseStay) {
  const std::string first = shelve("1");
  const std::string second = shelve("2");
  const std::string third = shelve("3");
  const auto cache = open(1);  // Space only for those in use, and the newest.
  std::optional<ContextCache::Tree> held = *cache->provide(first);
  const fs::path held_at = **held;
  ASSERT_TRUE(cache->provide(second));
  ASSERT_TRUE(cache->provide(third));
  EXPECT_TRUE(fs::exists(held_at / "src/train.py")) << "an attempt is being made of it";
  EXPECT_EQ(trees(), 2U) << "the second went for the third";
  held.reset();
  ASSERT_TRUE(cache->provide(second));
  EXPECT_FALSE(fs::exists(held_at));
  EXPECT_EQ(trees(), 1U);
  EXPECT_EQ(asked_, 4U);
}

}  // namespace
}  // namespace hpsearch::workers::test
