#pragma once

#include <map>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"

namespace hpsearch::workers {

/// The paths of a program's channels, by name, below `ml`: directories end with /, an input may be a file.
struct ChannelPlaces {
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;
};

/// Makes the channels of an attempt in its tree (see prepare_attempt). `ml` is the tree's root as the
/// program sees it.
[[nodiscard]] engine::Result<ChannelPlaces> make_channels(const jobs::LaunchSpec& spec,
                                                          const AttemptDirectory& directory,
                                                          const std::string& ml);

}  // namespace hpsearch::workers
