#pragma once

#include <cstdint>
#include <filesystem>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/checkpoints/place.hpp"

namespace hpsearch::checkpoints {

/// Removes the checkpoint at that place from its shelf: under another name first, so that nobody takes half
/// of it for a checkpoint. One that is not there is fine.
///
/// wrong_state: no checkpoint lies there, or the experiment's directory is another store's; it was left
/// alone. unavailable: why it cannot be removed.
engine::Status remove_directory(const Shelf& shelf, const std::filesystem::path& place, std::uint64_t store);

}  // namespace hpsearch::checkpoints
