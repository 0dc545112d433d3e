#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// The nonblocking read end of a program's output.
///
/// A writer and a reader of a pipe exclude each other: while one copies, the other waits. So the pages of
/// a flood are first moved to our own pipe, without a copy, and copied from there while the program
/// continues to print.
class ProgramPipe {
 public:
  ProgramPipe() = default;
  explicit ProgramPipe(Descriptor end);

  /// Like ::read(): bytes in order, 0 at the end, -1 with errno.
  [[nodiscard]] ssize_t read(std::span<char> room);
  /// Bytes were moved from the program's pipe and haven't been read: poll() doesn't report them.
  [[nodiscard]] bool holds() const noexcept { return moved_ > 0; }

  [[nodiscard]] int get() const noexcept { return end_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(end_); }

 private:
  [[nodiscard]] bool move_on();

  Descriptor end_;
  Descriptor own_in_;
  Descriptor own_out_;
  std::size_t moved_ = 0;  ///< Bytes in our own pipe.
  bool floods_ = false;    ///< The last read filled its room.
};

}  // namespace hpsearch::workers
