#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// The end at which a program's output is read, without blocking.
///
/// Who writes to a pipe and who reads from it take turns: while one copies, the other waits. So the pages of
/// a flood are first moved to a pipe of our own, which costs no copy, and copied from there while the program
/// goes on printing.
class ProgramPipe {
 public:
  ProgramPipe() = default;
  explicit ProgramPipe(Descriptor end);

  /// As ::read(): bytes in the order they were written, 0 at the end, -1 with errno.
  [[nodiscard]] ssize_t read(std::span<char> room);
  /// Bytes were taken from the program's pipe and not read yet: nobody says that there is something to read.
  [[nodiscard]] bool holds() const noexcept { return moved_ > 0; }

  [[nodiscard]] int get() const noexcept { return end_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(end_); }

 private:
  [[nodiscard]] bool move_on();

  Descriptor end_;
  Descriptor own_in_;
  Descriptor own_out_;
  std::size_t moved_ = 0;  ///< In our own pipe.
  bool floods_ = false;    ///< The last read filled its room.
};

}  // namespace hpsearch::workers
