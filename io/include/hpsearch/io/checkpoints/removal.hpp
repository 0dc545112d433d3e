#pragma once

#include <cstdint>
#include <filesystem>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/checkpoints/place.hpp"

namespace hpsearch::checkpoints {

/// Removes the checkpoint at that place from its shelf: it is renamed first, so that a partly removed one
/// isn't read as a checkpoint. It is no error if it doesn't exist.
///
/// wrong_state: no checkpoint is there, or the experiment's directory is another store's; it is left
/// alone. unavailable: it can't be removed, with the reason.
engine::Status remove_directory(const Shelf& shelf, const std::filesystem::path& place, std::uint64_t store);

}  // namespace hpsearch::checkpoints
