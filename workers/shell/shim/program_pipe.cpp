#include "hpsearch/workers/shell/shim/program_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hpsearch::workers {

namespace {

constexpr int pipe_bytes = 1024 * 1024;

}  // namespace

ProgramPipe::ProgramPipe(Descriptor end) : end_(std::move(end)) {
  ::fcntl(end_.get(), F_SETPIPE_SZ, pipe_bytes);  // A flood then needs fewer switches.
}

/// False if there is nothing to move, or we have no pipe.
bool ProgramPipe::move_on() {
  if (!own_in_) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
      return false;
    }
    own_out_ = Descriptor(ends[0]);
    own_in_ = Descriptor(ends[1]);
    ::fcntl(own_in_.get(), F_SETPIPE_SZ, pipe_bytes);
  }
  const ssize_t moved =
      ::splice(end_.get(), nullptr, own_in_.get(), nullptr, pipe_bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  moved_ = moved > 0 ? static_cast<std::size_t>(moved) : 0;
  return moved_ > 0;
}

ssize_t ProgramPipe::read(std::span<char> room) {
  if (moved_ > 0 || (floods_ && move_on())) {
    const ssize_t got = ::read(own_out_.get(), room.data(), std::min(room.size(), moved_));
    moved_ -= got > 0 ? static_cast<std::size_t>(got) : 0;
    return got;
  }
  const ssize_t got = ::read(end_.get(), room.data(), room.size());
  floods_ = got > 0 && static_cast<std::size_t>(got) == room.size();
  return got;
}

}  // namespace hpsearch::workers
