#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/audit/audit_files.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/api/access.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/wire/unix_user.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;

std::optional<double> seconds_if_any(std::int64_t micros) {
  return micros == 0 ? std::nullopt : std::optional(Duration::micros(micros).in_seconds());
}

api::Token shown(const TokenRecord& token) {
  return {.id = token.id,
          .name = token.name,
          .role = decltype(api::Token::role)::find(name_of(token.role)).value(),
          .workspaces = Scope(token.workspaces).listed(),
          .created = seconds_if_any(token.created),
          .expires = seconds_if_any(token.expires),
          .last_used_day = seconds_if_any(token.used),
          .creator = token.creator,
          .unix_user = token.unix_user};
}

/// No other answer contains a token.
HttpResponse shown(const Result<Tokens::Made>& made) {
  if (!made) {
    return failure(made.error());
  }
  return with(201, api::NewToken{shown(made->record), made->text});
}

Value audit_page(const std::vector<Value>& lines, std::size_t most) {
  Value::List entries(lines.begin(), lines.end());
  Value next = lines.size() < most || lines.empty() ? Value() : *lines.back().as_map()->find("number");
  return Value::Map{{"entries", std::move(entries)}, {"next", std::move(next)}};  // As api::AuditPage.
}

void who_am_i(RequestContext&, Call call) {
  call.reply(with(200, api::Caller{.name = call.caller.name,
                                   .owner = owner_name(call.caller),
                                   .role = std::string(name_of(call.caller.role)),
                                   .workspaces = call.caller.scope.listed(),
                                   .unix_user = unix_user_of(call.caller)}));
}

/// Null: the caller may make tokens.
std::optional<HttpResponse> makes_no_tokens(const Caller& caller) {
  return caller.may_make_tokens
             ? std::nullopt
             : std::optional(refusal(403,
                                     "the session of this browser makes no tokens; `hpsearch open --admin` "
                                     "begins one that does, and `hpsearch token` makes and rotates them"));
}

/// Changes of tokens wait for the disk, so they run beside the loop.
void change(RequestContext& context, const Call& call, std::function<HttpResponse(Tokens&)> how) {
  if (context.about.tokens == nullptr) {
    call.reply(failure(Error{Errc::not_found, "this daemon keeps no tokens"}));
    return;
  }
  context.about.checks->run([tokens = context.about.tokens, reply = call.reply, how = std::move(how)] {
    HttpResponse response = how(*tokens);
    response.holds_secret = true;
    return [reply, response = std::move(response)] { reply(response); };
  });
}

struct TokenRequest {
  std::string name;
  Role role = Role::viewer;
  std::optional<Duration> life = Tokens::usual_life;
  Scope scope{};
  std::string unix_user{};
};

/// A list of names, or ["*"] for all. The workspaces need not exist yet.
std::optional<Scope> read_workspaces(const Value& value) {
  const Value::List* list = value.as_list();
  if (list == nullptr || list->empty() || list->size() > Scope::most_names) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const Value& name : *list) {
    if (name.as_text() == nullptr || name.as_text()->empty()) {
      return std::nullopt;
    }
    names.push_back(*name.as_text());
  }
  const bool has_star = std::find(names.begin(), names.end(), Scope::everything) != names.end();
  if (has_star && names.size() > 1) {
    return std::nullopt;
  }
  return has_star ? Scope() : Scope(std::move(names));
}

std::string names_of_roles() {
  std::string names;
  for (const NamedRole& one : token_roles) {
    names.append(names.empty() ? "" : ", ").append(one.name);
  }
  return names;
}

TokenRequest read_request(const Value::Map& body, const Caller& caller, engine::Problems& problems) {
  static constexpr std::array<std::string_view, 5> known{"name", "role", "expires_in_seconds", "workspaces",
                                                         "unix_user"};
  TokenRequest request;
  for (const auto& [key, value] : body) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string_view near = engine::nearest(key, known);
      problems.push_back(
          {key, "is not known",
           near.empty() ? "name, role, expires_in_seconds, workspaces, unix_user" : std::string(near)});
    }
  }
  const Value* name = body.find("name");
  if (name == nullptr || name->as_text() == nullptr) {
    problems.push_back(
        {"name", name == nullptr ? "is missing" : "is a " + std::string(name->kind_name()), "a text"});
  } else {
    request.name = *name->as_text();
  }
  const Value* role = body.find("role");
  const std::optional<Role> named =
      role == nullptr || role->as_text() == nullptr ? std::nullopt : token_role(*role->as_text());
  if (!named) {
    problems.push_back(
        {"role", role == nullptr ? "is missing" : "is " + engine::compact_json(*role), names_of_roles()});
  } else {
    request.role = *named;
  }
  if (const Value* workspaces = body.find("workspaces")) {
    if (auto scope = read_workspaces(*workspaces)) {
      request.scope = *std::move(scope);
    } else {
      problems.push_back({"workspaces", "is " + engine::compact_json(*workspaces),
                          "a list of 1 to 100 names of workspaces, or [\"*\"] for all"});
    }
  }
  if (const Value* unix_user = body.find("unix_user"); unix_user != nullptr && !unix_user->is_null()) {
    const auto read = unix_user->as_text() == nullptr
                          ? Result<proto::UnixUser>(Error{Errc::bad_request, "a text"})
                          : proto::UnixUser::read(*unix_user->as_text());
    if (read) {
      request.unix_user = read->name();
    } else {
      problems.push_back(
          {"unix_user", "is " + engine::compact_json(*unix_user), std::string(proto::UnixUser::allowed)});
    }
  }
  if (const Value* life = body.find("expires_in_seconds")) {
    const double seconds = life->number_or(0);
    if (life->is_null() && caller.is_local && request.role == Role::admin) {
      request.life.reset();
    } else if (!(seconds > 0) || seconds > Tokens::longest_life.in_seconds()) {
      problems.push_back(
          {"expires_in_seconds", "is " + engine::compact_json(*life),
           "a number above 0 and up to 31536000 (365 days); null (never) only for an admin, over the "
           "Unix socket"});
    } else {
      request.life = Duration::micros(std::llround(seconds * 1e6));
    }
  }
  return request;
}

void create(RequestContext& context, Call call) {
  if (auto refused = makes_no_tokens(call.caller)) {
    call.reply(*std::move(refused));
    return;
  }
  const Result<Value> body = call.object();
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  engine::Problems problems;
  const TokenRequest request = read_request(*body->as_map(), call.caller, problems);
  if (!problems.empty()) {
    call.reply(failure("the token's description is wrong", problems));
    return;
  }
  change(context, call, [request, creator = call.caller.name, now = context.runtime.now()](Tokens& tokens) {
    return shown(tokens.create(request.name, request.role, request.life, creator, now, request.scope,
                               request.unix_user));
  });
}

void list(RequestContext& context, Call call) {
  api::TokenList list;
  if (context.about.tokens != nullptr) {
    for (const TokenRecord& token : context.about.tokens->list(context.runtime.now())) {
      list.tokens.push_back(shown(token));
    }
  }
  call.reply(with(200, list));
}

void rotate(RequestContext& context, Call call) {
  if (auto refused = makes_no_tokens(call.caller)) {
    call.reply(*std::move(refused));
    return;
  }
  change(context, call, [id = call.token_id, now = context.runtime.now()](Tokens& tokens) {
    return shown(tokens.rotate(id, now));
  });
}

void revoke(RequestContext& context, Call call) {
  change(context, call, [id = call.token_id](Tokens& tokens) {
    const engine::Status revoked = tokens.revoke(id);
    return revoked ? with(200, api::RevokedToken{id}) : failure(revoked.error());
  });
}

constexpr std::uint64_t usual_audit_page = 100;
constexpr std::uint64_t most_audit_page = 500;

void show_audit(RequestContext& context, Call call) {
  const auto after = number_of(call.request, "after", 0);
  const auto limit = number_of(call.request, "limit", usual_audit_page);
  const std::string_view refusals = call.request.query_or("refusals", "false");
  if (const Error* error = first_error(after, limit)) {
    call.reply(failure(*error));
    return;
  }
  if (context.about.audit == nullptr) {
    call.reply(failure(Error{Errc::not_found, "this daemon keeps no audit log"}));
    return;
  }
  context.about.checks->run(
      [directory = context.about.state_dir, reply = call.reply, after = *after,
       most = std::min(*limit, most_audit_page),
       &kind = refusals == "1" || refusals == "true" ? audited_refusals : audited_changes] {
        const auto lines = AuditFiles::read(directory, kind, after, most);
        HttpResponse response = lines ? with(200, audit_page(*lines, most)) : failure(lines.error());
        return [reply, response = std::move(response)] { reply(response); };
      });
}

constexpr QueryParameter audit_query[] = {
    after_number,
    page_limit,
    {"refusals", QueryParameter::Kind::choice, "Whether refused requests are listed instead of changes.", 0,
     0, yes_or_no}};

constexpr Route access_table[] = {
    {"GET",
     "/api/v1/audit",
     Role::admin,
     &show_audit,
     {"list_audit", "access", "Lists who changed what, or what was refused", api::schema_of<api::AuditPage>},
     audit_query},
    {"GET",
     "/api/v1/whoami",
     Role::viewer,
     &who_am_i,
     {"who_am_i", "access", "Who the caller is", api::schema_of<api::Caller>}},
    {"GET",
     "/api/v1/tokens",
     Role::admin,
     &list,
     {"list_tokens", "access", "Lists all tokens", api::schema_of<api::TokenList>}},
    {"POST",
     "/api/v1/tokens",
     Role::admin,
     &create,
     {"create_token", "access", "Creates a token", api::schema_of<api::NewToken>,
      api::schema_of<api::TokenRequest>, 201}},
    {"POST",
     "/api/v1/tokens/{token}/rotate",
     Role::admin,
     &rotate,
     {"rotate_token", "access", "Replaces the secret of a token", api::schema_of<api::NewToken>, nullptr,
      201}},
    {"DELETE",
     "/api/v1/tokens/{token}",
     Role::admin,
     &revoke,
     {"revoke_token", "access", "Revokes a token", api::schema_of<api::RevokedToken>}},
};

}  // namespace

std::span<const Route> access_routes() noexcept {
  return access_table;
}

}  // namespace hpsearch::daemon
