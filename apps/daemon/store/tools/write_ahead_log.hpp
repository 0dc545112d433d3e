#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// Checks that SQLite will read everything from a write-ahead log that was ever committed to it.
///
/// SQLite ends a log at its first frame with a wrong checksum. That is right after a power failure, which may
/// leave any part of the one commit that was being written. It is wrong if the frame was damaged later: every
/// commit after it would be lost without notice. The following frames distinguish the two: a commit is
/// written when the one before it is durable (synchronous=FULL), so everything before a commit that another
/// frame follows was on the disk, whole.
///
/// The last commit cannot be checked in this way: damage to it, or to the mark that ends the commit before
/// it, looks like a commit that was never finished.
///
/// Reference: the SQLite documentation, "Database File Format", section 4 (the write-ahead log).
/// Takes:   the content of the file, which no other process writes.
/// Cost:    linear, the checksums of all frames once; twice after a damage.
/// Fails:   corrupt, with the frame (from 1) or the header, and its place.
[[nodiscard]] engine::Status check_write_ahead_log(std::span<const std::byte> log);

/// Checks the log of the database at `path`; succeeds if it has none.
[[nodiscard]] engine::Status check_log_of(FileSystem& files, const std::string& path);

/// Checks it, and replaces it with a copy that is certainly on the disk.
///
/// A process that died after a failed sync leaves commits that only the kernel's memory holds; it may call
/// them clean, and then no later sync writes them. Read back they look like all others. If they were moved
/// into the database before they are durable themselves, a power failure during the move would leave a part
/// of them there, without a way to repair it.
/// Fails:   as check_write_ahead_log(); unavailable: the copy cannot be written.
[[nodiscard]] engine::Status renew_log_of(FileSystem& files, const std::string& path);

}  // namespace hpsearch::daemon
