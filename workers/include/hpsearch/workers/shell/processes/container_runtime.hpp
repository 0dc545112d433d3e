#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/workers/core/adapters/container/container_launch.hpp"

namespace hpsearch::workers {

struct FoundRuntime {
  ContainerRuntime kind{};
  std::string program;
};

/// The first of Apptainer, Podman and Docker that is on the PATH of `environment` and answers `version` well:
/// Docker's client may be there without its daemon. unavailable: there is none; the sentence lists what was
/// tried. Cost: starts programs; call it off the loop.
[[nodiscard]] engine::Result<FoundRuntime> find_container_runtime(
    const std::map<std::string, std::string>& environment);

/// A container that an attempt's program was started in; enough to be rid of it after this worker has died.
struct ContainerRecord {
  std::string program;  ///< The runtime's file.
  std::string name;

  friend bool operator==(const ContainerRecord&, const ContainerRecord&) = default;
};

void spell(auto& fields, proto::Is<ContainerRecord> auto& record) {
  fields("program", record.program);
  fields("name", record.name);
}

engine::Status write_container_record(const std::filesystem::path& path, const ContainerRecord& record);
[[nodiscard]] std::optional<ContainerRecord> read_container_record(const files::Directory& directory,
                                                                   const std::string& name);

/// Ends what still runs of it and gives its file system back. `--rm` does that only where the runtime's
/// client ends by itself: a client that was killed leaves a dead container with Podman, a living one with
/// Docker. unavailable: it is still there, or the runtime does not answer, after `patience`. Cost: starts
/// programs; call it off the loop.
[[nodiscard]] engine::Status remove_container(const ContainerRecord& record,
                                              const std::map<std::string, std::string>& environment,
                                              std::chrono::milliseconds patience = std::chrono::seconds(60));

}  // namespace hpsearch::workers
