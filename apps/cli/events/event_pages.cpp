#include "cli/events/event_pages.hpp"

#include <string>

#include "cli/render/text.hpp"

namespace hpsearch::cli {

using engine::Value;

std::optional<Failure> each_event(const Client& client, std::uint64_t experiment,
                                  const std::function<void(const Value&)>& on_event) {
  const std::string target = "/api/v1/events?limit=1000&experiment=" + std::to_string(experiment) + "&after=";
  for (std::uint64_t after = 0;;) {
    const Outcome<Value> page = client.get(target + std::to_string(after));
    if (!page) {
      return page.failure();
    }
    for (const Value& event : list_at(*page, "events")) {
      on_event(event);
    }
    const std::uint64_t last = count_at(*page, "last_lsn");
    if (last <= after) {
      return std::nullopt;
    }
    after = last;
  }
}

}  // namespace hpsearch::cli
