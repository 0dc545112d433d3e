#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/alloc/backend.hpp"

namespace hpsearch::daemon {

/// One word of a shell, whatever is in it.
[[nodiscard]] std::string shell_word(std::string_view text);

/// "gpu-17": the name of the allocation's worker, or what the names of its workers begin with.
[[nodiscard]] std::string worker_name(const engine::AllocationName& name);

/// The arguments of a worker of the allocation that are the same for all of them and on each backend.
[[nodiscard]] std::vector<std::string> worker_arguments(const JobOrder& order);

/// The script for a node differs in this between backends.
struct NodeRules {
  std::string index{};      ///< The worker's number in its allocation, for a shell; "" = it has one worker.
  std::string ends_from{};  ///< Value of --ends-from; "" = its time limit counts from its start.
};

/// The script for each node: it runs one worker, whose state is removed when it has ended.
[[nodiscard]] std::string worker_script(const JobOrder& order, const NodeRules& rules);

}  // namespace hpsearch::daemon
