#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop.hpp"

namespace hpsearch::daemon {

/// Free space where checkpoints of experiments without checkpoint_storage go. Looks each minute, beside the
/// loop: a file system of the network may take long to answer.
///
/// Threads: the loop's. The loop must outlive this.
class CheckpointSpace {
 public:
  CheckpointSpace(net::Loop& loop, std::string root);
  CheckpointSpace(const CheckpointSpace&) = delete;
  CheckpointSpace& operator=(const CheckpointSpace&) = delete;

  /// Bytes. Null: not known yet, or the directory can't be examined.
  [[nodiscard]] std::optional<std::uint64_t> free() const noexcept { return free_; }

 private:
  void look();

  std::string root_;
  bool looking_ = false;
  std::optional<std::uint64_t> free_;
  net::Watch clock_;
  net::Background disk_;
};

}  // namespace hpsearch::daemon
