#include "hpsearch/workers/shell/shim/program_pipe.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>
#include <string>
#include <string_view>

namespace hpsearch::workers::test {
namespace {

struct Ends {
  Ends() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    reads = ProgramPipe(Descriptor(ends[0]));
    writes = Descriptor(ends[1]);
  }
  ProgramPipe reads;
  Descriptor writes;
};

TEST(ProgramPipes, PassEveryByteInOrder) {
  Ends ends;
  std::mt19937 random(7);
  std::string sent;
  std::string got;
  std::array<char, 4096> room{};
  bool held = false;
  const auto read_some = [&](std::size_t turns) {
    for (; turns > 0; --turns) {
      const ssize_t size = ends.reads.read(room);
      if (size < 0) {
        ASSERT_EQ(errno, EAGAIN);
        ASSERT_FALSE(ends.reads.holds());
        return;
      }
      got.append(room.data(), static_cast<std::size_t>(size));
      held = held || ends.reads.holds();
    }
  };
  for (int round = 0; round < 2'000; ++round) {
    std::string piece(1 + random() % (round % 3 == 0 ? 60'000 : 50), 'a');
    std::generate(piece.begin(), piece.end(), [&random] { return static_cast<char>(random() % 256); });
    const ssize_t size = ::write(ends.writes.get(), piece.data(), piece.size());
    if (size > 0) {
      sent.append(piece, 0, static_cast<std::size_t>(size));
    }
    read_some(random() % 12);
  }
  ends.writes = Descriptor();
  while (got.size() < sent.size()) {
    const ssize_t size = ends.reads.read(room);
    ASSERT_GT(size, 0);
    got.append(room.data(), static_cast<std::size_t>(size));
  }
  EXPECT_TRUE(got == sent) << got.size() << " of " << sent.size();
  EXPECT_TRUE(held) << "nothing was a flood";
  EXPECT_EQ(ends.reads.read(room), 0) << "the end";
}

TEST(ProgramPipes, AreEmptiedBeforeAFloodIsCopied) {
  Ends ends;
  const std::string block(64 * 1024, 'x');
  std::array<char, 4096> room{};
  ASSERT_EQ(::write(ends.writes.get(), block.data(), block.size()), static_cast<ssize_t>(block.size()));
  ASSERT_EQ(ends.reads.read(room), 4096);
  ASSERT_EQ(ends.reads.read(room), 4096);
  EXPECT_TRUE(ends.reads.holds());
  int left = -1;
  ASSERT_EQ(::ioctl(ends.writes.get(), FIONREAD, &left), 0);
  EXPECT_EQ(left, 0) << "the program would wait for what is copied";
}

}  // namespace
}  // namespace hpsearch::workers::test
