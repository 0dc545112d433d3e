#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "daemon/http/http_request_context.hpp"
#include "daemon/keys/invites.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/net/server_names.hpp"
#include "hpsearch/proto/api/access.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;

double seconds_of(std::int64_t micros) {
  return Duration::micros(micros).in_seconds();
}

api::Invite shown(const InviteRecord& invite, engine::Instant now) {
  return {.id = invite.id(),
          .state = decltype(api::Invite::state)::find(invite.state_name(now)).value(),
          .created = seconds_of(invite.created),
          .expires = seconds_of(invite.expires),
          .uses = invite.uses,
          .used = invite.used,
          .creator = invite.creator,
          .workers = invite.workers};
}

/// The answer where workers need no keys. Nothing: there are invites.
std::optional<HttpResponse> needs_no_invites(const RequestContext& context) {
  if (context.about.invites != nullptr) {
    return std::nullopt;
  }
  return failure(Error{Errc::wrong_state, "workers need no invite: this daemon accepts them on " +
                                              context.sessions.endpoint() +
                                              " without a key. For workers of other machines, start it with "
                                              "--workers tcp://HOST:PORT"});
}

Invites::Request read_invite_request(const Value::Map& body, engine::Problems& problems) {
  static constexpr std::array<std::string_view, 3> known{"expires_in_seconds", "uses", "address"};
  Invites::Request request;
  for (const auto& [key, value] : body) {
    const std::int64_t* number = value.as_integer();
    if (key == "uses") {
      if (number == nullptr || *number < 1 || static_cast<std::uint64_t>(*number) > Invites::most_uses) {
        problems.push_back({key, "is " + engine::compact_json(value), "a whole number from 1 to 100000"});
      } else {
        request.uses = static_cast<std::uint64_t>(*number);
      }
    } else if (key == "expires_in_seconds") {
      const double seconds = value.number_or(0);
      if (!(seconds > 0) || seconds > Invites::longest_life.in_seconds()) {
        problems.push_back(
            {key, "is " + engine::compact_json(value), "a number above 0 and up to 31536000 (365 days)"});
      } else {
        request.life = Duration::micros(std::llround(seconds * 1e6));
      }
    } else if (key == "address" && value.as_text() != nullptr && !value.as_text()->empty()) {
      request.endpoint = *value.as_text();
    } else if (key == "address") {
      problems.push_back({key, "is " + engine::compact_json(value), "HOST or HOST:PORT"});
    } else {
      const std::string_view near = engine::nearest(key, known);
      problems.push_back(
          {key, "is not known", near.empty() ? "expires_in_seconds, uses, address" : std::string(near)});
    }
  }
  return request;
}

void create_invite(RequestContext& context, Call call) {
  if (!call.caller.may_make_tokens) {
    call.reply(refusal(403,
                       "the session of this browser makes no invites; `hpsearch open --admin` begins one "
                       "that does, and `hpsearch worker invite` makes them"));
    return;
  }
  if (auto none = needs_no_invites(context)) {
    call.reply(*std::move(none));
    return;
  }
  const Result<Value> body = call.object();
  if (!body) {
    call.reply(failure(body.error()));
    return;
  }
  engine::Problems problems;
  Invites::Request request = read_invite_request(*body->as_map(), problems);
  if (!problems.empty()) {
    call.reply(failure("the invite's description is wrong", problems));
    return;
  }
  request.endpoint = net::endpoint_for_others(
      context.sessions.endpoint(), request.endpoint.empty() ? context.about.advertised : request.endpoint);
  request.creator = call.caller.name;
  context.about.checks->run([invites = context.about.invites, reply = call.reply,
                             request = std::move(request), now = context.runtime.now()] {
    const auto made = invites->create(request, now);
    HttpResponse response =
        made ? with(201, api::NewInvite{shown(made->record, now), request.endpoint, made->token})
             : failure(made.error());
    response.holds_secret = true;
    return [reply, response = std::move(response)] { reply(response); };
  });
}

void list_invites(RequestContext& context, Call call) {
  if (context.about.invites == nullptr) {
    call.reply(with(200, api::InviteList{}));
    return;
  }
  context.about.checks->run(
      [invites = context.about.invites, reply = call.reply, now = context.runtime.now()] {
        const auto all = invites->list();
        api::InviteList list;
        if (all) {
          for (const InviteRecord& invite : *all) {
            list.invites.push_back(shown(invite, now));
          }
        }
        HttpResponse response = all ? with(200, list) : failure(all.error());
        return [reply, response = std::move(response)] { reply(response); };
      });
}

void revoke_invite(RequestContext& context, Call call) {
  if (auto none = needs_no_invites(context)) {
    call.reply(*std::move(none));
    return;
  }
  context.about.checks->run(
      [invites = context.about.invites, reply = call.reply, id = call.word, now = context.runtime.now()] {
        const auto revoked = invites->revoke(id, now);
        HttpResponse response = revoked ? with(200, shown(*revoked, now)) : failure(revoked.error());
        return [reply, response = std::move(response)] { reply(response); };
      });
}

constexpr Route invite_table[] = {
    {"GET",
     "/api/v1/invites",
     Role::admin,
     &list_invites,
     {"list_invites", "access", "Lists the invites for workers", api::schema_of<api::InviteList>}},
    {"POST",
     "/api/v1/invites",
     Role::admin,
     &create_invite,
     {"create_invite", "access", "Creates an invite with which workers join", api::schema_of<api::NewInvite>,
      api::schema_of<api::InviteRequest>, 201}},
    {"DELETE",
     "/api/v1/invites/{invite}",
     Role::admin,
     &revoke_invite,
     {"revoke_invite", "access", "Revokes an invite; workers that have joined stay",
      api::schema_of<api::Invite>}},
};

}  // namespace

std::span<const Route> invite_routes() noexcept {
  return invite_table;
}

}  // namespace hpsearch::daemon
