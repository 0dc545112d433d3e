#include "cli/admin/invites.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "cli/client/answers.hpp"
#include "cli/client/server.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/api/access.hpp"

namespace hpsearch::cli {

using engine::Value;

Outcome<engine::Duration> read_life(const std::string& option, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::int64_t seconds = unit == "d"   ? 86'400
                               : unit == "h" ? 3'600
                               : unit == "m" ? 60
                               : unit == "s" ? 1
                                             : 0;
  constexpr std::int64_t longest = 365LL * 86'400;
  if (error != std::errc() || seconds == 0 || number <= 0 || number > longest / seconds) {
    return usage_failure(option + " is \"" + printable(text) +
                         "\"; it must be a whole number followed by d, h, m or s (at most 365d)");
  }
  return engine::Duration::seconds(number * seconds);
}

Outcome<engine::Done> write_secret_file(const std::string& path, const std::string& secret) {
  const auto failed =
      files::replace_file(path, secret + "\n", files::Durability::of_the_disk, files::Readers::owner);
  if (failed) {
    return Failure{Exit::storage, engine::Errc::unavailable, failed->as_error().message};
  }
  return engine::Done{};
}

std::string invite_terms(std::uint64_t uses, double expires) {
  return counted(uses, "worker") + " may join with it until " + clock_text(expires, seconds_now());
}

int invite_create(const InviteOptions& options, const Output& output) {
  const Outcome<engine::Duration> life = read_life("--for", options.life);
  if (!life) {
    return output.fail(life.failure());
  }
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  Value::Map request{{"expires_in_seconds", life->in_seconds()},
                     {"uses", static_cast<std::int64_t>(options.uses)}};
  if (options.address) {
    request["address"] = *options.address;
  }
  const Outcome<Value> answer = server->client().post("/api/v1/invites", request);
  const auto made = read_as<api::NewInvite>(answer);
  if (!made) {
    return output.fail(made.failure());
  }
  if (options.to) {
    if (const auto written = write_secret_file(*options.to, made->token); !written) {
      return output.fail(written.failure());
    }
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  output.message("hpsearch: invite " + made->id + " for the daemon at " + made->address + ": " +
                 invite_terms(made->uses, made->expires) + ". " +
                 (options.to ? "On the other machine: hpsearch-worker join @" + *options.to
                             : "hpsearch-worker join asks for it:"));
  if (!options.to) {
    output.print(made->token + "\n");
  }
  return 0;
}

int invite_list(const ServerOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<Value> answer = server->client().get("/api/v1/invites");
  const auto list = read_as<api::InviteList>(answer);
  if (!list) {
    return output.fail(list.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  Table table({{"ID"}, {"STATE"}, {"USED"}, {"EXPIRES"}, {"CREATOR"}, {"WORKERS"}});
  for (const api::Invite& invite : list->invites) {
    std::string workers;
    for (const std::string& name : invite.workers) {
      workers += (workers.empty() ? "" : ", ") + printable(name);
    }
    table.add({invite.id, std::string(invite.state.text()),
               std::to_string(invite.used) + " of " + std::to_string(invite.uses), time_text(invite.expires),
               invite.creator, workers});
  }
  output.print(table.empty() ? std::string("no invites of the last 7 days\n") : table.text(output.width()));
  return 0;
}

int invite_revoke(const InviteOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<Value> revoked =
      server->client().remove("/api/v1/invites/" + net::percent_encoded(options.id));
  if (!revoked) {
    Failure failure = revoked.failure();
    if (failure.exit == Exit::not_found) {
      failure.message =
          "there is no invite " + printable(options.id) + "; hpsearch worker invites lists the IDs";
    }
    return output.fail(failure);
  }
  if (output.json()) {
    output.data(*revoked);
  } else {
    output.print("invite " + options.id + " is revoked; workers that have joined with it stay\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
