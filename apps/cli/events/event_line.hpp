#pragma once

#include <string>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/sentences/event_story.hpp"

namespace hpsearch::cli {

/// The story's line for an event of the daemon, printable, with its local time: "12:03:44  trial 3 paused".
/// An event that this program cannot read becomes an important line.
[[nodiscard]] sentences::EventStory::Line event_line(sentences::EventStory& story,
                                                     const engine::Value& event);

}  // namespace hpsearch::cli
