#include <string>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {

// No decision depends on who asked, so the engine remembers nothing of it.

Status note_request(Step& step, const NoteRequest& command) {
  step.emit(RequestTaken{command.key, command.request});
  return Done{};
}

void apply(const Applier& /*applier*/, const RequestTaken& /*event*/) {
}

std::string problem_with(const EventChecks& /*checks*/, const RequestTaken& /*event*/) {
  return "";
}

}  // namespace hpsearch::engine
