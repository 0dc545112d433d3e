#pragma once

#include <map>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"

namespace hpsearch::workers {

/// Where a program finds its channels, by name, below `ml`: directories end with /, an input may be a file.
struct ChannelPlaces {
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;
};

/// Lays the channels of an attempt into its tree (see prepare_attempt). `ml` is the tree's root as the
/// program will see it.
[[nodiscard]] engine::Result<ChannelPlaces> make_channels(const jobs::LaunchSpec& spec,
                                                          const AttemptDirectory& directory,
                                                          const std::string& ml);

}  // namespace hpsearch::workers
