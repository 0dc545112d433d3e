#include "cli/events/event_line.hpp"

#include "cli/render/text.hpp"
#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::cli {
namespace {

/// "HH:MM:SS  "; "" if the time is not known.
std::string clock_text(engine::Instant at) {
  const std::string time = time_text(static_cast<double>(at.micros()) / 1e6);
  return time.size() < 8 ? std::string() : time.substr(time.size() - 8) + "  ";
}

}  // namespace

sentences::EventStory::Line event_line(sentences::EventStory& story, const engine::Value& event) {
  const engine::Result<engine::Event> read = proto::event_of(event);
  if (!read) {
    return {"an event cannot be read: " + printable(read.error().message), true};
  }
  sentences::EventStory::Line line = story.tell(*read);
  if (!line.text.empty()) {
    line.text = clock_text(read->at) + printable(line.text);
  }
  return line;
}

}  // namespace hpsearch::cli
