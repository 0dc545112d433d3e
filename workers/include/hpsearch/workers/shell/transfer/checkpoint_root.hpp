#pragma once

#include <cstdint>
#include <filesystem>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::workers {

/// Whether this worker can store checkpoints below the directory, and whether it is the one that the daemon
/// of that store sees there: the daemon leaves a mark in it (proto/wire/checkpoint_owner.hpp). Makes a
/// directory there and removes it again.
///
/// Fails: with a sentence that says what is wrong and what to do.
/// Threads: on any; a file server that is away may hold it.
[[nodiscard]] engine::Status check_checkpoint_root(const std::filesystem::path& root, std::uint64_t store);

}  // namespace hpsearch::workers
