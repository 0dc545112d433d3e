#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::net {

/// Whether rclone (https://rclone.org) is on the PATH; unavailable and a sentence for people when it is not.
[[nodiscard]] engine::Status find_rclone();

/// Runs rclone with these arguments and waits for it. `environment` stands above this process's own; it is
/// where keys belong: command lines are everybody's to read. No configuration file is used. rclone is ended
/// soon after `stopped` becomes true.
///
/// unavailable: rclone is missing, failed or was ended; the sentence ends with what it said last.
/// Threads: blocks; call it off the loop.
engine::Status run_rclone(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& environment,
                          const std::atomic<bool>* stopped = nullptr);

/// The same, and returns what rclone writes to its standard output: lists, and small files. unavailable: also
/// more than 64 MiB of it.
[[nodiscard]] engine::Result<std::string> read_rclone(const std::vector<std::string>& arguments,
                                                      const std::map<std::string, std::string>& environment,
                                                      const std::atomic<bool>* stopped = nullptr);

}  // namespace hpsearch::net
