#pragma once

#include <map>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::net {

/// Whether rclone (https://rclone.org) is on the PATH; unavailable and a sentence for people when it is not.
[[nodiscard]] engine::Status find_rclone();

/// Runs rclone with these arguments and waits for it. `environment` stands above this process's own; it is
/// where keys belong: command lines are everybody's to read. No configuration file is used.
///
/// unavailable: rclone is missing or failed; the sentence ends with what it said last.
/// Threads: blocks; call it off the loop.
engine::Status run_rclone(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& environment);

}  // namespace hpsearch::net
