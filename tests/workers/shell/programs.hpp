#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "hpsearch/workers/shell/worker_loop.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

namespace hpsearch::workers::test {

/// Real programs under a real worker loop, with our own daemon at the other end of a real connection.
class Programs : public testing::Test {
 protected:
  Programs() : daemon_(loop_) {}

  /// Starts the worker and waits for its session.
  void begin(engine::Duration grace = engine::Duration::seconds(30),
             const std::filesystem::path& state_directory = {}) {
    auto state = WorkerState::open(state_directory.empty() ? scratch_.path() / "state" : state_directory);
    ASSERT_TRUE(state.has_value()) << state.error().message;
    state_ = std::make_unique<WorkerState>(*std::move(state));
    WorkerOptions options;
    options.daemon = daemon_.endpoint();
    options.name = "tester";
    options.machine = {
        .slots = 4, .cores = 8, .devices = {}, .environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/tmp"}}};
    options.rules.attempt.grace = grace;
    options.shim = HPSEARCH_SHIM_BINARY;
    options.context_wait = std::chrono::milliseconds(1);
    worker_ = std::make_unique<WorkerLoop>(loop_, *state_, options,
                                           [this](bool failed, const std::string&) { ended_ = !failed; });
    ASSERT_TRUE(worker_->start().has_value());
    daemon_.until("a session", [this] { return !daemon_.hellos.empty(); });
  }

  void lease(const jobs::LaunchSpec& spec) { daemon_.say(proto::Lease{spec}); }
  void decide(const engine::AttemptKey& key, std::uint64_t id, engine::Directive directive,
              std::uint64_t length = 0) {
    daemon_.say(proto::Decide{key, engine::Decision{engine::Lsn{id}, directive, engine::Units{length}}});
  }
  void wait_for_reports(const engine::AttemptKey& key, std::size_t count) {
    daemon_.until("reports", [&] { return daemon_.reports(key).size() >= count; });
  }
  proto::LogPart read_log(const engine::AttemptKey& key, const std::string& stream, std::uint64_t offset = 0,
                          std::uint64_t limit = 0, bool from_end = false) {
    daemon_.parts.clear();
    daemon_.say(proto::ReadLog{7, key, stream, offset, limit, from_end});
    daemon_.until("a part of the log", [this] { return !daemon_.parts.empty(); });
    return daemon_.parts.empty() ? proto::LogPart{} : daemon_.parts.front();
  }
  std::filesystem::path directory_of(const engine::AttemptKey& key) { return state_->attempt(key).root(); }

  Scratch scratch_;
  net::Loop loop_;
  FakeDaemon daemon_;
  std::unique_ptr<WorkerState> state_;
  std::unique_ptr<WorkerLoop> worker_;
  std::optional<bool> ended_;
};

}  // namespace hpsearch::workers::test
