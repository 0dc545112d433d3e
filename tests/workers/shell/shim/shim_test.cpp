// A shim and its agent's client, with a real program.

#include "hpsearch/workers/shell/shim/shim.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "hpsearch/workers/shell/shim/shim_client.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/scarcity.hpp"

namespace hpsearch::workers::test {
namespace {

TEST(Shims, RepeatTheFailureOfTheJournalToTheirAgent) {
  const Scratch scratch;
  net::Loop loop;
  const AttemptDirectory directory(scratch.path(), key_of(0));
  std::filesystem::create_directories(directory.root());
  LaunchOrder order;
  order.agent_socket = (scratch.path() / "agent").string();
  order.report_socket = (scratch.path() / "report").string();
  order.program = {.argv = {"/bin/sh", "-c", "sleep 0.3; exit 5"},
                   .environment = {{"PATH", "/usr/bin:/bin"}},
                   .directory = "/",
                   .token = "SHIM_TEST=" + scratch.path().string()};
  ASSERT_TRUE(write_launch_order(directory.launch(), order));
  bool kept_over = false;
  Shim shim(loop, directory, [&] { kept_over = true; });
  ASSERT_TRUE(shim.start(Descriptor()));

  std::vector<std::string> unwritten;
  std::optional<JournalEnded> ended;
  ShimClient::Handlers handlers;
  handlers.on_started = [](const JournalStarted&) {};
  handlers.on_not_started = [&](const std::string& why) { FAIL() << why; };
  handlers.on_message = [](const JournalMessageReceived&, std::uint64_t) {};
  handlers.on_unwritten = [&](const std::string& why) {
    unwritten.push_back(why);
    loop.stop();
  };
  handlers.on_stuck = [](const JournalStuck&) {};
  handlers.on_ended = [&](const JournalEnded& how) {
    ended = how;
    loop.stop();
  };
  handlers.on_lost = [&](const std::string& why) { FAIL() << why; };
  ShimClient link(loop, directory, std::move(handlers));
  link.attach(0);
  bool late = false;
  const net::Watch patience = loop.after(std::chrono::seconds(30), [&] {
    late = true;
    loop.stop();
  });
  {
    const FullDisk full;
    while (unwritten.size() < 2 && !ended && !late) {
      loop.run();
    }
  }
  ASSERT_FALSE(ended);
  ASSERT_FALSE(late) << "the agent hears nothing of it";
  EXPECT_NE(unwritten.front().find(directory.journal().string()), std::string::npos) << unwritten.front();
  EXPECT_NE(unwritten.front().find("File too large"), std::string::npos) << unwritten.front();
  EXPECT_EQ(unwritten.front(), unwritten.back());
  EXPECT_FALSE(kept_over);
  while (!ended && !late) {
    loop.run();
  }
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 5);
}

}  // namespace
}  // namespace hpsearch::workers::test
