#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// Whether SQLite will read everything from a write-ahead log that was ever committed to it.
///
/// SQLite takes a log to end at its first frame whose checksum does not fit. That is right after a power
/// failure, which may leave any part of the one commit that was being written. It is wrong of a frame that
/// was damaged later: every commit behind it would be gone, and nothing would be missed. The two are told
/// apart by what lies behind: a commit is written when the one before it is durable (synchronous=FULL), so
/// whatever stands before a commit that a further frame follows was on the disk, whole.
///
/// Of the last commit nobody can say so: damage to it, or to the mark that ends the commit before it, looks
/// like a commit that was never finished.
///
/// Reference: the SQLite documentation, "Database File Format", section 4 (the write-ahead log).
/// Takes:   the content of the file, which nobody else writes.
/// Cost:    linear, the checksums of all frames once; twice behind a damage.
/// Fails:   corrupt, with the frame (from 1) or the header, and its place.
[[nodiscard]] engine::Status check_write_ahead_log(std::span<const std::byte> log);

/// The same of the log of the database at `path`; fine when it has none.
[[nodiscard]] engine::Status check_log_of(FileSystem& files, const std::string& path);

/// Checks it, and puts a copy in its place that is on the disk for certain.
///
/// A process that died over a failed sync leaves commits that only the kernel's memory holds; it may call
/// them clean, and then no later sync writes them. Read back they look like all others. Were they moved into
/// the database before they are durable themselves, a power failure in the middle of that would leave a part
/// of them there and nothing to mend it with. Fails:   as check_write_ahead_log(); unavailable: the copy
/// cannot be written.
[[nodiscard]] engine::Status renew_log_of(FileSystem& files, const std::string& path);

}  // namespace hpsearch::daemon
