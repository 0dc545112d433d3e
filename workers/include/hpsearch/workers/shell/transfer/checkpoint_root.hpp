#pragma once

#include <cstdint>
#include <filesystem>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::workers {

/// Checks that this worker can store checkpoints below the directory, and that it is the directory that the
/// daemon of that store sees: the daemon leaves a mark in it (proto/wire/checkpoint_owner.hpp). Makes a
/// directory there and removes it.
///
/// Fails: with a sentence that has the problem and the remedy.
/// Threads: any; an unavailable file server may block it.
[[nodiscard]] engine::Status check_checkpoint_root(const std::filesystem::path& root, std::uint64_t store);

}  // namespace hpsearch::workers
