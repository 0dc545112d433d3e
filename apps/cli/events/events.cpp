#include "cli/events/events.hpp"

#include <chrono>
#include <string>

#include "cli/client/interrupts.hpp"
#include "cli/client/live_stream.hpp"
#include "cli/client/which.hpp"
#include "cli/events/event_line.hpp"
#include "cli/events/event_pages.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

constexpr std::chrono::milliseconds patience{200};

/// Prints events as they arrive, in order.
class EventPrinter {
 public:
  EventPrinter(const Value& detail, std::uint64_t after, const Output& output)
      : story_(text_at(detail, "unit"), text_at(detail, "metric")), after_(after), output_(output) {}

  void print(const Value& event) {
    // The story needs all events.
    const auto line = event_line(story_, event);
    if (count_at(event, "lsn") <= after_) {
      return;
    }
    if (output_.json()) {
      output_.line(event);
    } else if (!line.text.empty()) {
      output_.print((line.trouble ? output_.paint(Output::Color::yellow, line.text) : line.text) + "\n");
    }
  }
  [[nodiscard]] bool ended() const noexcept { return story_.ended(); }

 private:
  sentences::EventStory story_;
  std::uint64_t after_;
  const Output& output_;
};

}  // namespace

int events(const EventsOptions& options, const Output& output) {
  const Outcome<Reached> reached =
      reach_experiment(options.experiment.server, options.experiment.experiment,
                       options.follow ? Server::Need::running : Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Client& client = reached->server.client();
  const Outcome<Value> detail = client.get(experiment_target(reached->experiment));
  if (!detail) {
    return output.fail(detail.failure());
  }
  EventPrinter printer(*detail, options.after.value_or(0), output);
  if (!options.follow) {
    const auto failure =
        each_event(client, reached->experiment, [&printer](const Value& event) { printer.print(event); });
    return failure ? output.fail(*failure) : static_cast<int>(Exit::ok);
  }
  const Interrupts interrupts;
  LiveStream stream(client, "/api/v1/events?experiment=" + std::to_string(reached->experiment));
  while (interrupts.count() == 0 && !printer.ended()) {
    const auto messages = stream.next(patience);
    if (!messages) {
      return output.fail(messages.failure());
    }
    for (const net::StreamMessage& message : *messages) {
      if (const auto event = proto::parse_json(message.data); event && !message.id.empty()) {
        printer.print(*event);
      }
    }
  }
  return static_cast<int>(interrupts.count() > 0 ? Exit::interrupted : Exit::ok);
}

}  // namespace hpsearch::cli
