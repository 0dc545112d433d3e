#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"
#include "hpsearch/workers/shell/own_directory.hpp"

namespace hpsearch::workers {

using proto::manifest_name;

/// Where an attempt's checkpoint of `step` belongs: <root>/<experiment>/<trial>/<attempt>-<step>.
[[nodiscard]] std::filesystem::path checkpoint_place(const std::filesystem::path& root,
                                                     const engine::AttemptKey& key, engine::Units step);

/// Moves everything that lies in `from`, which must still be the directory that the worker made, to the
/// checkpoint's place, with a manifest (files, sizes, CRC-32C, step) written last, so that a directory there
/// is complete or not there at all. `from` stays, empty. An older checkpoint of the same attempt and step is
/// replaced.
///
/// Goes on where an earlier call was cut off: with nothing in `from` and a checkpoint of that step in its
/// place, it tells of that one.
///
/// `store` is the one whose experiment it is; its number is left in <root>/<experiment>. 0: only one writes
/// below root.
///
/// Durable when it returns. Nothing: `from` is empty. unavailable: the disk said no; what was not moved is
/// still in `from`, and what was moved is put back. wrong_state: <root>/<experiment> is another store's,
/// something else is in the place of `from` (open_own_directory()), below root there is a link or what is no
/// checkpoint of this attempt, or a directory in `from` is a mount point; all are left as they are.
///
/// Threads: touches only these directories; call it on any.
/// Cost:    reads every file once, for its checksum; moving itself is a rename on the same file system.
[[nodiscard]] engine::Result<std::optional<engine::CheckpointReport>> publish_checkpoint(
    const OwnDirectory& from, const std::filesystem::path& root, const engine::AttemptKey& key,
    engine::Units step, std::uint64_t store = 0);
/// The same from and to directories that are open.
[[nodiscard]] engine::Result<std::optional<engine::CheckpointReport>> publish_checkpoint(
    const files::Directory& from, const files::Directory& root, const engine::AttemptKey& key,
    engine::Units step, std::uint64_t store = 0);

/// What such a manifest tells of its checkpoint, which lies in its directory; nothing when there is none.
[[nodiscard]] std::optional<engine::CheckpointReport> told_by(const files::Directory& directory,
                                                              const std::string& manifest_file,
                                                              engine::Units step);

/// Compares a checkpoint's files with its manifest. not_found: there is no manifest. corrupt: a file is
/// missing, or is another one. unavailable: its place cannot be read now.
[[nodiscard]] engine::Status verify_checkpoint(const files::Directory& place);

}  // namespace hpsearch::workers
