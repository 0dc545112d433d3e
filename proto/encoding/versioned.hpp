#pragma once

#include <cstdint>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"

namespace hpsearch::proto {

/// The item after the version, in a list of `size` that begins with
/// the version of a format: messages and
/// stored events. corrupt: it is no such list; version_mismatch: the version is outside oldest … newest.
/// `what` names the thing: "a message", "an event".
[[nodiscard]] engine::Result<MsgpackItem> after_version(MsgpackItem root, const char* what,
                                                        std::uint64_t oldest, std::uint64_t newest,
                                                        std::size_t size);

}  // namespace hpsearch::proto
