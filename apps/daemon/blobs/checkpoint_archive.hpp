#pragma once

#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/archive/tar_archive.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"

namespace hpsearch::daemon {

/// The list of files of an open checkpoint. wrong_state: there is none, it is damaged, it names a path that
/// leaves the directory, or it belongs to another trial. Cost: O(length of the list).
[[nodiscard]] engine::Result<proto::CheckpointManifest> read_manifest_of(const files::Directory& checkpoint,
                                                                         engine::ExperimentId experiment,
                                                                         engine::TrialNumber trial);

/// A checkpoint as a tar archive: the files that the manifest lists, in its order, and then the manifest, all
/// below the directory `top`. Only regular files are opened, and no link is followed. A link is in the
/// archive if its target lies in the checkpoint; other links are left out, so that unpacking the archive
/// writes and reads nothing elsewhere.
///
/// wrong_state: a file is missing, or is longer or shorter than the manifest says. Cost: a few system calls
/// for each file.
[[nodiscard]] engine::Result<files::TarArchive> archive_of_checkpoint(
    files::Directory checkpoint, const proto::CheckpointManifest& manifest, const std::string& top);

}  // namespace hpsearch::daemon
