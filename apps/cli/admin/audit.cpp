#include "cli/client/answers.hpp"
#include "cli/client/server.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "daemon/audit/audit_files.hpp"
#include "hpsearch/proto/api/access.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

std::string who(const api::AuditEntry& entry) {
  return entry.name.empty() ? "-" : entry.name;  // "nobody" is a user of most machines.
}

/// "POST /api/v1/experiments: experiments/3" if the path doesn't name what was made.
std::string what(const api::AuditEntry& entry) {
  if (entry.count.value_or(0) != 0) {
    return counted(*entry.count, "other request") + " in that minute";
  }
  const std::string resource = entry.resource.value_or("");
  return entry.method + " " + entry.path +
         (entry.path.find(resource) == std::string::npos ? ": " + resource : "");
}

}  // namespace

int audit_list(const AuditOptions& options, const Output& output) {
  const Outcome<Server> server = options.server.state_dir
                                     ? Server::reach(options.server, Server::Need::readable, output)
                                     : Server::reach_shared(options.server, output);
  const Outcome<Value> answer =
      server ? server->client().get("/api/v1/audit?limit=500&after=" + std::to_string(options.after) +
                                    (options.refusals ? "&refusals=true" : ""))
             : Outcome<Value>(server.failure());
  return show_answer<api::AuditPage>(answer, output, [&](const api::AuditPage& page) {
    Table table({{"LINE", Table::Align::right},
                 {"TIME"},
                 {"WHO"},
                 {"FROM"},
                 {"STATUS", Table::Align::right},
                 {"REQUEST"}});
    for (const api::AuditEntry& entry : page.entries) {
      table.add({std::to_string(entry.number), time_text(entry.time), who(entry), entry.from,
                 std::to_string(entry.status), what(entry)});
    }
    if (page.next) {
      output.message("hpsearch: there are more: hpsearch audit list " +
                     std::string(options.refusals ? "--refusals " : "") + "--after " +
                     std::to_string(*page.next));
    }
    const std::string none = options.after == 0
                                 ? "nothing is recorded yet\n"
                                 : "no line has a higher number than " + std::to_string(options.after) + "\n";
    output.print(table.empty() ? none : table.text(output.width()));
  });
}

int audit_verify(const AuditOptions& options, const Output& output) {
  constexpr std::size_t hash_digits = 64;
  if (!options.holds.empty() && (options.holds.size() != hash_digits ||
                                 options.holds.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    return output.fail(usage_failure("--holds is \"" + options.holds +
                                     "\"; it must be the hash that an earlier verify printed, 64 "
                                     "hexadecimal digits"));
  }
  // The state directory of a daemon or of a run.
  const StateDirectory run(options.state_dir);
  std::error_code ignored;
  const std::filesystem::path directory = std::filesystem::is_directory(run.daemon(), ignored)
                                              ? run.daemon()
                                              : std::filesystem::path(options.state_dir);
  const auto changes = daemon::AuditFiles::verify(directory.string(), daemon::audited_changes, options.holds);
  if (!changes) {
    return output.fail(not_found_failure(changes.error().message));
  }
  const auto refusals = daemon::AuditFiles::verify(directory.string(), daemon::audited_refusals);
  for (const auto* verdict : {&changes, &refusals}) {
    if (*verdict && !(*verdict)->problem.empty()) {
      Failure failure = plain_failure((*verdict)->problem);
      failure.exit = Exit::storage;
      return output.fail(failure);
    }
  }
  const std::uint64_t refused = refusals ? refusals->lines : 0;
  if (output.json()) {
    output.data(Value::Map{{"lines", static_cast<std::int64_t>(changes->lines)},
                           {"last_hash", changes->last.hash},
                           {"refusals", static_cast<std::int64_t>(refused)}});
  } else {
    output.print("the chain of " + counted(changes->lines, "line") +
                 " is whole; the hash of the last one is " +
                 (changes->last.hash.empty() ? "none" : changes->last.hash) + "\n" +
                 (refused == 0 ? "" : "the chain of " + counted(refused, "refusal") + " is whole, too\n"));
  }
  return 0;
}

}  // namespace hpsearch::cli
