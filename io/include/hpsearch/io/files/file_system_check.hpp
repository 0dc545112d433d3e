#pragma once

#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/file_calls.hpp"

namespace hpsearch::files {

/// Whether the file system below a directory does what a store relies on: O_EXCL, locks that a child process
/// sees and that end with their descriptor, fsync of files and directories, writes that a second descriptor
/// reads, and renames in the place of a file. It cannot tell what other hosts see, nor whether a server keeps
/// what it was told to sync.
///
/// Makes two files of random names there and removes them.
/// bad_request: a step failed; the message is one sentence without its full stop. unavailable: no file can be
/// made there.
/// Cost: about 20 calls; a few milliseconds here, some 100 ms on a busy server.
[[nodiscard]] engine::Status check_file_system(const std::string& directory, FileCalls& calls);

}  // namespace hpsearch::files
