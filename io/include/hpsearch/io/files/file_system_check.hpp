#pragma once

#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/file_calls.hpp"

namespace hpsearch::files {

/// Checks that the file system of a directory provides what a store needs: O_EXCL, locks that a child process
/// sees and that end with their descriptor, fsync of files and directories, writes that a second descriptor
/// reads, and renames over a file. It can't check what other hosts see, or whether a server keeps
/// synced data.
///
/// Creates two files with random names there and removes them.
/// bad_request: a step failed; the message is one sentence without its full stop. unavailable: no file can be
/// created there.
/// Cost: about 20 calls; a few milliseconds on a local disk, some 100 ms on a busy server.
[[nodiscard]] engine::Status check_file_system(const std::string& directory, FileCalls& calls);

}  // namespace hpsearch::files
