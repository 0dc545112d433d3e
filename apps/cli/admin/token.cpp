#include <utility>

#include "cli/admin/invites.hpp"
#include "cli/client/answers.hpp"
#include "cli/client/server.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/api/access.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// "all", "nlp, vision"
std::string names_of_workspaces(const api::Token& token) {
  std::string text;
  for (const std::string& name : token.workspaces) {
    text += (text.empty() ? "" : ", ") + (name == "*" ? "all" : name);
  }
  return text;
}

/// A text that cannot be an ID would lead to a path that the daemon doesn't have.
Failure of_token(const std::string& id, Failure failure) {
  if (failure.exit == Exit::not_found) {
    failure.message = "there is no token " + printable(id) + "; hpsearch token list shows the IDs";
  }
  return failure;
}

/// Only the secret goes to standard output, so that `hpsearch token create ... > FILE` writes nothing else.
int show_made(const Outcome<Value>& made, const Output& output) {
  return show_answer<api::NewToken>(made, output, [&](const api::NewToken& token) {
    output.message("hpsearch: token " + token.id + ", named " + token.name + ", is " +
                   std::string(token.role.text()) + " (workspaces: " + names_of_workspaces(token) + ")" +
                   (token.expires ? " until " + time_text(*token.expires) : " and never expires") +
                   ". It is shown only now:");
    output.print(token.token + "\n");
  });
}

}  // namespace

int token_create(const TokenOptions& options, const Output& output) {
  Value seconds;  // null: never
  if (options.expires != "never") {
    const auto life = read_life("--expires", options.expires);
    if (!life) {
      Failure failure = life.failure();
      failure.message += ", or never";
      return output.fail(failure);
    }
    seconds = life->in_seconds();
  }
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  Value::List workspaces(options.workspaces.begin(), options.workspaces.end());
  if (workspaces.empty()) {
    workspaces.emplace_back("*");
  }
  Value::Map request{{"name", options.name},
                     {"role", options.role},
                     {"workspaces", std::move(workspaces)},
                     {"expires_in_seconds", std::move(seconds)}};
  if (options.unix_user) {
    request["unix_user"] = *options.unix_user;
  }
  return show_made(server->client().post("/api/v1/tokens", request), output);
}

int token_rotate(const TokenOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<Value> made = server->client().post(token_target(options.id) + "/rotate", Value::Map{});
  return made ? show_made(made, output) : output.fail(of_token(options.id, made.failure()));
}

int token_revoke(const TokenOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<Value> revoked = server->client().remove(token_target(options.id));
  if (!revoked) {
    return output.fail(of_token(options.id, revoked.failure()));
  }
  if (output.json()) {
    output.data(*revoked);
  } else {
    output.print("token " + options.id + " is revoked\n");
  }
  return 0;
}

int token_list(const ServerOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<Value> answer = server->client().get("/api/v1/tokens");
  return show_answer<api::TokenList>(answer, output, [&](const api::TokenList& list) {
    Table table(
        {{"ID"}, {"NAME"}, {"ROLE"}, {"WORKSPACES"}, {"UNIX USER"}, {"EXPIRES"}, {"LAST USED"}, {"CREATOR"}});
    for (const api::Token& token : list.tokens) {
      table.add({token.id, token.name, std::string(token.role.text()), names_of_workspaces(token),
                 token.unix_user, token.expires ? time_text(*token.expires) : "never",
                 time_text(token.last_used_day.value_or(0)).substr(0, 10), token.creator});
    }
    output.print(table.empty() ? std::string("no tokens yet\n") : table.text(output.width()));
  });
}

}  // namespace hpsearch::cli
