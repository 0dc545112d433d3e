#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// The Python script of the context that the entrypoint names and that is written for Determined: a line of
/// it imports the package `determined`, and none imports hpsearch. Null if the experiment itself says how it
/// is started (`launch`) or where its metrics are (`metrics`): no file of Determined has these.
[[nodiscard]] std::optional<std::string> determined_script(const engine::Value& tree,
                                                           const std::filesystem::path& context);

}  // namespace hpsearch::cli
