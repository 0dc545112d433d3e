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

/// The place of an attempt's checkpoint of `step`: <root>/<experiment>/<trial>/<attempt>-<step>.
[[nodiscard]] std::filesystem::path checkpoint_place(const std::filesystem::path& root,
                                                     const engine::AttemptKey& key, engine::Units step);

/// Moves the content of `from`, which must still be the directory that the worker made, to the
/// checkpoint's place. A manifest (files, sizes, CRC-32C, step) is written last, so that a directory there
/// is either complete or absent. `from` stays, empty. An older checkpoint of the same attempt and step is
/// replaced.
///
/// Continues an interrupted call: if `from` is empty and a checkpoint of that step is in its
/// place, it reports that one.
///
/// `store` is the experiment's store; its number is stored in <root>/<experiment>. 0: only one store writes
/// below root.
///
/// Durable when it returns. Nothing: `from` is empty. unavailable: writing failed; files are still in
/// `from`, or moved back. wrong_state: <root>/<experiment> is another store's,
/// `from` was replaced (open_own_directory()), below root there is a link or a file that is no
/// checkpoint of this attempt, or a directory in `from` is a mount point; all are left unchanged.
///
/// Threads: any; it uses only these directories.
/// Cost:    reads every file once, for its checksum; the move is a rename on the same file system.
[[nodiscard]] engine::Result<std::optional<engine::CheckpointReport>> publish_checkpoint(
    const OwnDirectory& from, const std::filesystem::path& root, const engine::AttemptKey& key,
    engine::Units step, std::uint64_t store = 0);
/// The same between open directories.
[[nodiscard]] engine::Result<std::optional<engine::CheckpointReport>> publish_checkpoint(
    const files::Directory& from, const files::Directory& root, const engine::AttemptKey& key,
    engine::Units step, std::uint64_t store = 0);

/// The report of a checkpoint, from the manifest in its directory; nothing if there is none.
[[nodiscard]] std::optional<engine::CheckpointReport> report_of(const files::Directory& directory,
                                                                const std::string& manifest_file,
                                                                engine::Units step);

/// Compares a checkpoint's files with its manifest. not_found: there is no manifest. corrupt: a file is
/// missing or differs. unavailable: its place can't be read now.
[[nodiscard]] engine::Status verify_checkpoint(const files::Directory& place);

}  // namespace hpsearch::workers
