#pragma once

#include <string>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/sentences/event_story.hpp"

namespace hpsearch::cli {

/// The story's line for an event as the daemon sends it, printable, with its local time: "12:03:44  trial 3
/// paused". An event that this program cannot read is a line of trouble.
[[nodiscard]] sentences::EventStory::Line event_line(sentences::EventStory& story,
                                                     const engine::Value& event);

}  // namespace hpsearch::cli
