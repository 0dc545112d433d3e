#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/alloc/queue.hpp"

namespace hpsearch::daemon {

/// A job of another scheduler carries this, so that it is found again: whose it is, and its allocation's key.
struct JobMark {
  std::uint64_t cluster = 0;
  engine::AllocationName name{};
  std::string key{};

  /// "hpsearch/CLUSTER/QUEUE/NUMBER/KEY"; `between` stands for "/".
  [[nodiscard]] std::string text(char between) const;
};

/// The marks of all jobs of the cluster begin with this.
[[nodiscard]] std::string mark_beginning(std::uint64_t cluster, char between);

/// The allocation's key in the mark of a job of this cluster; nothing: the job is another's.
[[nodiscard]] std::optional<std::string> key_in_mark(std::string_view mark, std::uint64_t cluster,
                                                     char between);

}  // namespace hpsearch::daemon
