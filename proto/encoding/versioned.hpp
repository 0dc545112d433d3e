#pragma once

#include <cstdint>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"

namespace hpsearch::proto {

/// The item after the version in a list of `size` that begins with a format's version: messages and stored
/// events.
/// corrupt: not such a list; version_mismatch: a version outside oldest … newest, whatever follows it.
/// `what` names the thing: "a message", "an event".
[[nodiscard]] engine::Result<MsgpackItem> after_version(MsgpackItem root, const char* what,
                                                        std::uint64_t oldest, std::uint64_t newest,
                                                        std::size_t size);

}  // namespace hpsearch::proto
