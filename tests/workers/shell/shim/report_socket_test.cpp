#include "hpsearch/workers/shell/shim/report_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hpsearch/workers/shell/shim/local_socket.hpp"
#include "scratch.hpp"

namespace hpsearch::workers::test {
namespace {

TEST(Sockets, HeldSocketIsReadAfterItsRelease) {
  const Scratch scratch;
  net::Loop loop;
  const std::string path = (scratch.path() / "s").string();
  std::vector<std::string> heard;
  auto socket = ReportSocket::listen(loop, path, [&](ConnectionId, std::string_view line) {
    heard.emplace_back(line);
    loop.stop();
  });
  ASSERT_TRUE(socket) << socket.error().message;
  const auto before = connect_locally(path);
  const auto say = [](const auto& connection, std::string_view line) {
    return ::send(connection->get(), line.data(), line.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(line.size());
  };
  ASSERT_TRUE(say(before, "one\n"));
  loop.run();
  (*socket)->hold(true);
  const auto meanwhile = connect_locally(path);
  ASSERT_TRUE(say(before, "two\n") && say(meanwhile, "three\n"));
  const net::Watch enough = loop.after(std::chrono::milliseconds(20), [&loop] { loop.stop(); });
  loop.run();
  EXPECT_EQ(heard, (std::vector<std::string>{"one"}));
  (*socket)->hold(false);
  while (heard.size() < 3) {
    loop.run();
  }
  std::sort(heard.begin(), heard.end());
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "three", "two"}));
}

TEST(Sockets, AbandonedConnectionsDoNotBlockOthers) {
  const Scratch scratch;
  net::Loop loop;
  const std::string path = (scratch.path() / "s").string();
  std::size_t heard = 0;
  std::size_t wanted = 1;
  auto socket = ReportSocket::listen(loop, path, [&](ConnectionId, std::string_view) {
    if (++heard == wanted) {
      loop.stop();
    }
  });
  ASSERT_TRUE(socket) << socket.error().message;
  for (; wanted <= 400; ++wanted) {  // They get no answer, because there is no agent.
    const auto asks = connect_locally(path);
    ASSERT_TRUE(asks) << wanted;
    ASSERT_EQ(::send(asks->get(), "?\n", 2, MSG_NOSIGNAL), 2) << wanted;
    const net::Watch too_long = loop.after(std::chrono::seconds(20), [&loop] { loop.stop(); });
    loop.run();
    ASSERT_EQ(heard, wanted) << "the connection was closed";
  }
}

/// The answers to a program that writes `lines` lines before it reads; each answer is the line's number.
std::string heard_after_saying(std::size_t lines) {
  const Scratch scratch;
  net::Loop loop;
  const std::string path = (scratch.path() / "s").string();
  std::size_t taken = 0;
  std::unique_ptr<ReportSocket> socket;
  auto listening = ReportSocket::listen(
      loop, path, [&](ConnectionId who, std::string_view) { socket->answer(who, std::to_string(++taken)); });
  EXPECT_TRUE(listening);
  socket = *std::move(listening);
  const auto program = connect_locally(path);
  ::fcntl(program->get(), F_SETFL, 0);  // It blocks, like programs do.
  std::string heard;
  std::thread thread([&] {
    for (std::size_t line = 0; line < lines; ++line) {
      EXPECT_EQ(::send(program->get(), "x\n", 2, MSG_NOSIGNAL), 2);
    }
    ::shutdown(program->get(), SHUT_WR);
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = ::read(program->get(), piece.data(), piece.size())) > 0;) {
      heard.append(piece.data(), static_cast<std::size_t>(got));
    }
    loop.post([&loop] { loop.stop(); });
  });
  loop.run();
  thread.join();
  EXPECT_EQ(taken, lines) << "what it says counts, whether it reads or not";
  return heard;
}

TEST(Sockets, KeepAnswersForALateReader) {
  std::string all;
  for (std::size_t line = 1; line <= 20'000; ++line) {
    all += std::to_string(line) + "\n";
  }
  EXPECT_EQ(heard_after_saying(20'000), all);
}

TEST(Sockets, EndForASlowReaderWithoutAGap) {
  const std::string heard = heard_after_saying(200'000);
  std::string as_far;
  for (std::size_t line = 1; as_far.size() < heard.size(); ++line) {
    as_far += std::to_string(line) + "\n";
  }
  EXPECT_EQ(heard, as_far);
  EXPECT_GT(heard.size(), std::size_t{200} * 1024);
  EXPECT_LT(heard.size(), std::size_t{1024} * 1024);
}

}  // namespace
}  // namespace hpsearch::workers::test
