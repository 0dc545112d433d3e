#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::checkpoints {

// The places of checkpoints: ROOT/EXPERIMENT/TRIAL/ATTEMPT-STEP. Paths come from workers, so they are read,
// opened and removed only if they have this form, and below ROOT no link is followed and no mount is
// entered.

/// Whether `path` has the form, for that experiment, in the spelling that workers use.
[[nodiscard]] bool is_place_of_a_checkpoint(const std::string& path, engine::ExperimentId experiment);

/// Two of the directories above a checkpoint.
struct Shelf {
  files::Directory experiment;
  files::Directory trial;
};

/// Nothing if they don't exist. Links above ROOT are followed.
[[nodiscard]] engine::Result<std::optional<Shelf>> open_shelf(const std::filesystem::path& place);
/// The same for a ROOT that is open.
[[nodiscard]] engine::Result<std::optional<Shelf>> open_shelf(const files::Directory& root,
                                                              const std::filesystem::path& place);

/// Why the directory of the experiment isn't this store's: the end of a sentence; "" if it may be.
[[nodiscard]] std::string belongs_elsewhere(const Shelf& shelf, std::uint64_t store);

/// Opens the directory of a checkpoint to read it. not_found: it doesn't exist. wrong_state: something else
/// is in its place, or it is another store's. unavailable: it can't be read.
[[nodiscard]] engine::Result<files::Directory> open_checkpoint(const std::string& path,
                                                               engine::ExperimentId experiment,
                                                               std::uint64_t store);

}  // namespace hpsearch::checkpoints
