#include <charconv>
#include <chrono>
#include <ctime>

#include "cli/client/answers.hpp"
#include "cli/client/server.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/api/access.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using Align = Table::Align;

/// "30d", "12h" before now, or the beginning of a day in UTC, "2026-11-01", in seconds since the epoch.
Outcome<std::int64_t> read_since(const std::string& text) {
  if (text.empty()) {
    return std::int64_t{0};
  }
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  std::int64_t number = 0;
  const char* all = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), all, number);
  const std::string_view unit(end, static_cast<std::size_t>(all - end));
  if (error == std::errc() && number >= 0 && number < 1'000'000 && (unit == "d" || unit == "h")) {
    return std::max<std::int64_t>(0, now - number * (unit == "d" ? 86'400 : 3'600));
  }
  std::tm day{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%d", &day);
  if (rest != nullptr && *rest == '\0') {
    return std::max<std::int64_t>(0, ::timegm(&day));
  }
  return usage_failure("--since is \"" + printable(text) +
                       "\"; it must be days or hours before now, as 30d or 12h, or a day, as 2026-11-01");
}

std::string hours_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", seconds / 3600);
  return text;
}

}  // namespace

int usage(const UsageOptions& options, const Output& output) {
  const Outcome<std::int64_t> since = read_since(options.since);
  if (!since) {
    return output.fail(since.failure());
  }
  const Outcome<Server> server = Server::reach(options.server, Server::Need::readable, output);
  const Outcome<Value> answer =
      server ? server->client().get("/api/v1/usage?by=" + options.by + "&since=" + std::to_string(*since))
             : Outcome<Value>(server.failure());
  return show_answer<api::Usage>(answer, output, [&](const api::Usage& usage) {
    Table table({{options.by == "user"        ? "USER"
                  : options.by == "workspace" ? "WORKSPACE"
                                              : "EXPERIMENT"},
                 {"SLOT HOURS", Align::right},
                 {"SLOTS NOW", Align::right},
                 {"EXPERIMENTS", Align::right},
                 {"TRIALS", Align::right}});
    double seconds = 0;
    for (const api::Used& row : usage.usage) {
      const std::string name =
          row.user.value_or("") + row.workspace.value_or("") + row.experiment.value_or("");
      seconds += row.slot_seconds;
      table.add({name.empty() ? "(not recorded)" : name, hours_text(row.slot_seconds),
                 std::to_string(row.slots), std::to_string(row.experiments), std::to_string(row.trials)});
    }
    output.print(table.empty()
                     ? std::string("no slot was used\n")
                     : table.text(output.width()) + "in all " + hours_text(seconds) + " slot hours\n");
  });
}

}  // namespace hpsearch::cli
