#pragma once

#include <cstdint>

#include "hpsearch/engine/base/result.hpp"
#include "spelling.hpp"

namespace hpsearch::proto {

/// The item after the version in a list of `size` that begins with a format's version: messages and stored
/// events.
/// corrupt: not such a list; version_mismatch: a version outside oldest … newest, whatever follows it.
/// `what` names the thing: "a message", "an event".
[[nodiscard]] engine::Result<MsgpackItem> after_version(MsgpackItem root, const char* what,
                                                        std::uint64_t oldest, std::uint64_t newest,
                                                        std::size_t size);

/// "TYPE: reports[3].step is missing".
[[nodiscard]] engine::Error corrupt_field(std::string_view type, const Trouble& trouble);

}  // namespace hpsearch::proto
