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

/// The first of Apptainer, Podman and Docker that is on the PATH of `environment` and whose `version`
/// succeeds: Docker's client may be installed without its daemon. unavailable: there is none; the sentence
/// lists what was tried. Cost: starts programs; don't call it on the loop.
[[nodiscard]] engine::Result<FoundRuntime> find_container_runtime(
    const std::map<std::string, std::string>& environment);

/// A container in which an attempt's program was started; enough to remove it after this worker has ended.
struct ContainerRecord {
  std::string program;  ///< The path of the runtime.
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

/// Stops the container and frees its file system. `--rm` does that only if the runtime's
/// client ends regularly: a client that was killed leaves a dead container with Podman, a running one with
/// Docker. unavailable: it still exists, or the runtime doesn't answer, after `patience`. Cost: starts
/// programs; don't call it on the loop.
[[nodiscard]] engine::Status remove_container(const ContainerRecord& record,
                                              const std::map<std::string, std::string>& environment,
                                              std::chrono::milliseconds patience = std::chrono::seconds(60));

}  // namespace hpsearch::workers
