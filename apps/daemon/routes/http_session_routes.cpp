#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "daemon/access/session_cookie.hpp"
#include "daemon/access/sessions.hpp"
#include "daemon/http/http_request_context.hpp"
#include "daemon/sign_on/provider.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/api/access.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Instant;

constexpr std::size_t most_waiting_sign_ins = 64;

/// `page_key`: that of a session that has just begun, otherwise "".
HttpResponse shown(const Caller& caller, std::string_view page_key, std::optional<Instant> expires_at) {
  api::Session session{.name = owner_name(caller),
                       .role = decltype(api::Session::role)::find(name_of(caller.role)).value(),
                       .workspaces = caller.scope.listed(),
                       .makes_tokens = caller.may_make_tokens,
                       .page_key = std::string(page_key)};
  if (expires_at) {
    session.expires_at = static_cast<double>(expires_at->micros()) / 1e6;
  }
  HttpResponse response = with(200, session);
  response.holds_secret = true;
  return response;
}

SignedIn signed_in_as(const Caller& caller, bool makes_tokens) {
  return {caller.name, caller.token_id, caller.token_hash, caller.role, caller.uid, makes_tokens};
}

Caller caller_of(const RequestContext& context, const SignedIn& who) {
  Caller caller{who.role, who.name, who.token_id, false, who.uid};
  caller.token_hash = who.token_hash;
  caller.may_make_tokens = who.makes_tokens;
  if (const Tokens* tokens = who.token_id.empty() ? nullptr : context.about.tokens) {
    if (const auto token = tokens->find_again(who.token_id, who.token_hash, context.runtime.now())) {
      caller.scope = Scope(token->workspaces);
    }
  }
  return caller;
}

/// The one text in the body, which is {"token": …} or {"code": …}.
Result<std::pair<std::string, std::string>> read_sign_in(const Call& call) {
  const Result<Value> body = call.object();
  if (!body) {
    return body.error();
  }
  const Value::Map& map = *body->as_map();
  const Error wrong{Errc::bad_request, R"(the body has to be {"token": TEXT} or {"code": TEXT})"};
  if (map.size() != 1 || map.begin()->second.as_text() == nullptr ||
      (map.begin()->first != "token" && map.begin()->first != "code")) {
    return wrong;
  }
  return std::pair(std::string(map.begin()->first), *map.begin()->second.as_text());
}

/// Begins the session of a browser, and answers.
void begin_session(RequestContext& context, Call call, SignedIn signed_in, Caller caller) {
  Sessions* sessions = context.about.sessions;
  const Instant now = context.runtime.now();
  context.about.checks->run([sessions, call = std::move(call), signed_in = std::move(signed_in),
                             caller = std::move(caller), now] {
    // Ends the old session of this browser, whose cookie is replaced.
    static_cast<void>(sessions->end(hash_of(session_secret_of(call.request))));
    const Result<SessionSecrets> secrets = sessions->begin(signed_in, now);
    HttpResponse response = secrets
                                ? shown(caller, secrets->page_key, sessions->end_of(hash_of(secrets->cookie)))
                                : failure(secrets.error());
    if (secrets) {
      response.headers.emplace_back("Set-Cookie", set_session_cookie(call.request, secrets->cookie));
    }
    return [reply = call.reply, response = std::move(response)] { reply(response); };
  });
}

void sign_in(RequestContext& context, Call call) {
  Sessions* sessions = context.about.sessions;
  const auto given = read_sign_in(call);
  if (!given || sessions == nullptr) {
    call.reply(failure(given ? Error{Errc::not_found, "this daemon keeps no sessions"} : given.error()));
    return;
  }
  const Instant now = context.runtime.now();
  Authentication& authentication = *context.about.authentication;
  std::variant<Caller, HttpResponse> caller;
  if (given->first == "token") {
    caller = authentication.caller_with(given->second, call.request, now);
    if (auto* of_token = std::get_if<Caller>(&caller)) {
      // Its browser can't be distinguished from others that see its requests.
      of_token->may_make_tokens = false;
    }
  } else if (const auto who = sessions->take_code(given->second, now)) {
    caller = caller_of(context, *who);
  } else {
    caller = authentication.wrong_code(call.request, now);
  }
  if (auto* refused = std::get_if<HttpResponse>(&caller)) {
    call.reply(std::move(*refused));
    return;
  }
  const Caller& who = std::get<Caller>(caller);
  begin_session(context, std::move(call), signed_in_as(who, who.may_make_tokens), who);
}

void show_provider(RequestContext& context, Call call) {
  const auto provider = context.about.provider ? context.about.provider() : nullptr;
  call.reply(with(200, api::SignInProvider{provider == nullptr ? std::nullopt
                                                               : std::optional(provider->settings().name)}));
}

/// Lets the provider be asked beside the loop. `ask` returns what is done on the loop then.
void at_provider(RequestContext& context, const Call& call,
                 const std::function<std::function<void()>(Provider& provider, Instant now)>& ask) {
  const auto provider = context.about.provider ? context.about.provider() : nullptr;
  if (provider == nullptr || context.about.sessions == nullptr) {
    call.reply(failure(Error{Errc::not_found, "this daemon has no OpenID provider; sign in with a token"}));
    return;
  }
  if (context.signing_in >= most_waiting_sign_ins) {
    call.reply(failure(Error{Errc::unavailable, "too many people sign in at the moment; try again"}));
    return;
  }
  ++context.signing_in;
  context.sign_ins->run([&context, provider, ask, now = context.runtime.now()] {
    return [&context, then = ask(*provider, now)] {
      --context.signing_in;
      then();
    };
  });
}

HttpResponse failed_sign_in(const Provider& provider, const Error& error) {
  net::log(net::Level::warning, "a sign-in with " + provider.settings().name + " failed: " + error.message);
  return error.code == Errc::unavailable ? failure(error) : unauthorized(error.message);
}

void begin_at_provider(RequestContext& context, Call call) {
  at_provider(context, call, [call](Provider& provider, Instant now) {
    const Result<Provider::Begun> begun = provider.begin(now);
    HttpResponse response = begun ? with(200, api::SignInAtProvider{begun->address, begun->key})
                                  : failed_sign_in(provider, begun.error());
    response.holds_secret = true;
    return [reply = call.reply, response] { reply(response); };
  });
}

void begin_session_of(RequestContext& context, const Call& call, const Person& person,
                      const std::string& issuer) {
  const Authentication& authentication = *context.about.authentication;
  auto caller = authentication.caller_of(person);
  if (auto* refused = std::get_if<HttpResponse>(&caller)) {
    net::log(net::Level::warning, "a sign-in was refused: " + no_role_for(person));
    call.reply(std::move(*refused));
    return;
  }
  const Caller& who = std::get<Caller>(caller);
  SignedIn signed_in{.name = person.name, .role = who.role};
  signed_in.issuer = issuer;
  signed_in.groups = authentication.roles().known_of(person.groups);
  signed_in.until = person.until.micros();
  begin_session(context, call, std::move(signed_in), who);
}

void finish_at_provider(RequestContext& context, Call call) {
  const Result<Value> body = call.object();
  const auto given =
      body ? proto::decode_value<api::ProviderAnswer>(*body) : Result<api::ProviderAnswer>(body.error());
  if (!given) {
    call.reply(failure(Error{Errc::bad_request, given.error().message}));
    return;
  }
  at_provider(context, call, [&context, call, answer = *given](Provider& provider, Instant now) {
    const Result<Person> person = provider.finish({answer.state, answer.code, answer.key}, now);
    std::function<void()> then;
    if (person) {
      then = [&context, call, person = *person, issuer = provider.settings().issuer] {
        begin_session_of(context, call, person, issuer);
      };
    } else {
      then = [reply = call.reply, response = failed_sign_in(provider, person.error())] { reply(response); };
    }
    return then;
  });
}

void show_session(RequestContext& context, Call call) {
  const Sessions* sessions = context.about.sessions;
  context.about.checks->run([sessions, call = std::move(call)] {
    const auto ends = sessions == nullptr ? std::nullopt : sessions->end_of(call.caller.session);
    HttpResponse response = shown(call.caller, "", ends);
    return [reply = call.reply, response = std::move(response)] { reply(response); };
  });
}

void sign_out(RequestContext& context, Call call) {
  Sessions* sessions = context.about.sessions;
  context.about.checks->run([sessions, call = std::move(call)] {
    const engine::Status ended =
        sessions == nullptr ? engine::Status(engine::Done{}) : sessions->end(call.caller.session);
    HttpResponse response = ended ? HttpResponse{} : failure(ended.error());
    if (ended) {
      response.status = 204;
      response.headers.emplace_back("Set-Cookie", set_session_cookie(call.request, ""));
    }
    return [reply = call.reply, response = std::move(response)] { reply(response); };
  });
}

/// Reads the body, {"makes_tokens": BOOL} or nothing.
Result<bool> read_makes_tokens(const Call& call) {
  const Result<Value> body = call.object();
  if (!body) {
    return body.error();
  }
  const Value::Map& map = *body->as_map();
  const Value* given = map.find("makes_tokens");
  if (map.size() > (given == nullptr ? 0U : 1U) || (given != nullptr && given->as_bool() == nullptr)) {
    return Error{Errc::bad_request,
                 R"(the body has to be {"makes_tokens": true}, {"makes_tokens": false} or nothing)"};
  }
  return given != nullptr && *given->as_bool();
}

void new_code(RequestContext& context, Call call) {
  const Result<bool> makes_tokens = read_makes_tokens(call);
  if (!makes_tokens) {
    call.reply(failure(makes_tokens.error()));
  } else if (context.about.sessions == nullptr) {
    call.reply(failure(Error{Errc::not_found, "this daemon keeps no sessions"}));
  } else if (!call.caller.session.empty()) {
    call.reply(refusal(403, "a session makes no codes: it would outlive itself"));
  } else if (!call.caller.person.empty()) {
    call.reply(refusal(403, "the proxy signs " + call.caller.person + " in; there is no need of a code"));
  } else if (*makes_tokens && call.caller.role < Role::admin) {
    call.reply(refusal(403, call.caller.name + " is " + std::string(name_of(call.caller.role)) +
                                "; only an admin may begin a session that makes tokens"));
  } else {
    call.reply(with(201, api::SignInCode{context.about.sessions->new_code(
                                             signed_in_as(call.caller, *makes_tokens), context.runtime.now()),
                                         Sessions::code_life.in_seconds()}));
  }
}

/// For users whose daemon has no TCP port: browsers can't connect to a Unix socket.
void open_port(RequestContext& context, Call call) {
  if (!context.about.open_http_port) {
    call.reply(failure(Error{Errc::not_found, "this daemon opens no ports"}));
    return;
  }
  if (!call.caller.is_local) {
    call.reply(refusal(403, "only the daemon's user and root open a port, over the Unix socket"));
    return;
  }
  const Result<std::string> address = context.about.open_http_port();
  call.reply(address ? with(200, api::HttpPort{*address}) : failure(address.error()));
}

constexpr Route session_table[] = {
    {"POST",
     session_path,
     Role::anyone,
     &sign_in,
     {"sign_in", "access", "Signs a browser in", api::schema_of<api::Session>, api::schema_of<api::SignIn>},
     {},
     false},
    {"GET",
     session_path,
     Role::viewer,
     &show_session,
     {"show_session", "access", "Who is signed in", api::schema_of<api::Session>}},
    {"DELETE",
     session_path,
     Role::viewer,
     &sign_out,
     {"sign_out", "access", "Signs a browser out", nullptr, nullptr, 204},
     {},
     false},
    {"GET",
     "/api/v1/session/provider",
     Role::anyone,
     &show_provider,
     {"show_sign_in_provider", "access", "Where people sign in, beside tokens",
      api::schema_of<api::SignInProvider>}},
    {"POST",
     "/api/v1/session/provider",
     Role::anyone,
     &begin_at_provider,
     {"begin_sign_in_at_provider", "access", "Begins a sign-in at the OpenID provider",
      api::schema_of<api::SignInAtProvider>},
     {},
     false},
    {"POST",
     "/api/v1/session/provider/answer",
     Role::anyone,
     &finish_at_provider,
     {"sign_in_from_provider", "access", "Signs a browser in that comes back from the OpenID provider",
      api::schema_of<api::Session>, api::schema_of<api::ProviderAnswer>},
     {},
     false},
    {"POST",
     "/api/v1/session/code",
     Role::viewer,
     &new_code,
     {"create_sign_in_code", "access", "Makes a code with which a browser signs in once",
      api::schema_of<api::SignInCode>, api::schema_of<api::SignInCodeRequest>, 201}},
    {"POST",
     "/api/v1/http-port",
     Role::admin,
     &open_port,
     {"open_http_port", "access", "Opens a TCP port for browsers of this machine",
      api::schema_of<api::HttpPort>}},
};

}  // namespace

std::span<const Route> session_routes() noexcept {
  return session_table;
}

}  // namespace hpsearch::daemon
