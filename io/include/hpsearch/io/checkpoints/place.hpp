#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::checkpoints {

// Where checkpoints lie: ROOT/EXPERIMENT/TRIAL/ATTEMPT-STEP. Paths come from workers, so they are read,
// opened and removed only where they have this form, and below ROOT no link is followed and no mount is
// entered.

/// Whether `path` has the form, for that experiment, and is spelled in the one way that workers use.
[[nodiscard]] bool is_place_of_a_checkpoint(const std::string& path, engine::ExperimentId experiment);

/// Two of the directories that a checkpoint lies in.
struct Shelf {
  files::Directory experiment;
  files::Directory trial;
};

/// Nothing: there is none any more. Links on the way to ROOT are followed.
[[nodiscard]] engine::Result<std::optional<Shelf>> open_shelf(const std::filesystem::path& place);
/// The same for a ROOT that is open.
[[nodiscard]] engine::Result<std::optional<Shelf>> open_shelf(const files::Directory& root,
                                                              const std::filesystem::path& place);

/// Why the directory of the experiment is not this store's: the end of a sentence; "" = it may be.
[[nodiscard]] std::string belongs_elsewhere(const Shelf& shelf, std::uint64_t store);

/// The directory of a checkpoint, to read it. not_found: it is not there. wrong_state: something else lies in
/// its place, or it is another store's. unavailable: it cannot be read.
[[nodiscard]] engine::Result<files::Directory> open_checkpoint(const std::string& path,
                                                               engine::ExperimentId experiment,
                                                               std::uint64_t store);

}  // namespace hpsearch::checkpoints
