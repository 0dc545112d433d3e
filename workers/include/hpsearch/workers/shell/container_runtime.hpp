#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/core/container_launch.hpp"

namespace hpsearch::workers {

struct FoundRuntime {
  ContainerRuntime kind{};
  std::string program;
};

/// The first of Apptainer, Podman and Docker that is on the PATH of `environment` and answers `version` well: Docker's
/// client may be there without its daemon. unavailable: there is none; the sentence says what was tried.
/// Cost: starts programs; call it off the loop.
[[nodiscard]] engine::Result<FoundRuntime> find_container_runtime(const std::map<std::string, std::string>& environment);

}  // namespace hpsearch::workers
