#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/proto/api/field_types.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::api {

/// The number of each limit, in the order of engine::quota_limits.
template <class Number>
using NumberOfEachLimit = std::array<std::optional<Number>, engine::quota_limits.size()>;

struct Quota {
  static constexpr Schema schema{"Quota", "Limits of a workspace; null: no limit."};
  NumberOfEachLimit<std::uint64_t> limits{};

  static void list_fields(auto& fields, auto& self) {
    for (std::size_t i = 0; i < self.limits.size(); ++i) {
      fields(engine::quota_limits[i].name, self.limits[i], engine::quota_limits[i].about);
    }
  }
};

/// An integer, a real or null.
struct Amount {
  engine::Value value{};
};

template <class Out>
void put(Out& out, const Amount& amount) {
  out.value(amount.value);
}
template <class Item, class Trouble>
[[nodiscard]] bool read(Item item, Amount& amount, Trouble& trouble) {
  return read(item, amount.value, trouble);
}

template <>
struct json_schema::Of<Amount> {
  static engine::Value schema(engine::Value::Map& /*named*/) { return or_null(of_type("number")); }
};

struct QuotaUse {
  static constexpr Schema schema{
      "QuotaUse", "What a workspace uses of each limit; null: the limit is for each user or experiment."};
  std::array<Amount, engine::quota_limits.size()> uses{};

  static void list_fields(auto& fields, auto& self) {
    for (std::size_t i = 0; i < self.uses.size(); ++i) {
      fields(engine::quota_limits[i].name, self.uses[i], engine::quota_limits[i].about);
    }
  }
};

struct QuotaRequest {
  static constexpr Schema schema{"QuotaRequest",
                                 "The limits of a workspace from now on; missing or null: no limit.",
                                 Schema::Kind::body};
  NumberOfEachLimit<std::optional<std::uint64_t>> limits{};

  static void list_fields(auto& fields, auto& self) {
    for (std::size_t i = 0; i < self.limits.size(); ++i) {
      fields.maybe(engine::quota_limits[i].name, self.limits[i], engine::quota_limits[i].about);
    }
  }
};

struct Workspace {
  static constexpr Schema schema{"Workspace", "A workspace."};
  std::string name{};
  std::optional<double> created{};
  std::string creator{};
  std::uint64_t experiments = 0;
  std::uint64_t active_experiments = 0;
  std::uint64_t slots = 0;
  QuotaUse used{};
  Quota quota{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the workspace.");
    fields("created", self.created,
           "When it was created; null: it is the default one, or experiments named it.");
    fields("creator", self.creator, "Token or user that created it; \"\": not recorded.");
    fields("experiments", self.experiments, "Number of its experiments.");
    fields("active_experiments", self.active_experiments, "Number of its experiments that have not ended.");
    fields("slots", self.slots, "Number of slots that its trials hold now.");
    fields("used", self.used, "What it uses of each limit.");
    fields("quota", self.quota, "Limits of the workspace.");
  }
};

struct WorkspaceList {
  static constexpr Schema schema{"WorkspaceList", "All workspaces by name."};
  std::vector<Workspace> workspaces{};

  static void list_fields(auto& fields, auto& self) {
    fields("workspaces", self.workspaces, "All workspaces that the caller may see, by name.");
  }
};

struct WorkspaceRequest {
  static constexpr Schema schema{"WorkspaceRequest", "The workspace to create.", Schema::Kind::body};
  std::string name{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "1 to 63 lower-case letters, digits and \"-\", not \"-\" first.");
  }
};

struct Used {
  static constexpr Schema schema{"Used", "What one user, workspace or experiment took."};
  std::optional<std::string> user{};
  std::optional<std::string> workspace{};
  std::optional<std::string> experiment{};
  double slot_seconds = 0;
  std::uint64_t slots = 0;
  std::uint64_t experiments = 0;
  std::uint64_t trials = 0;

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("user", self.user, "Name of a user or token; \"\": not recorded.");
    fields.maybe("workspace", self.workspace, "Name of a workspace.");
    fields.maybe("experiment", self.experiment, "ID of an experiment.");
    fields("slot_seconds", self.slot_seconds, "Slots times time under lease since `since`.");
    fields("slots", self.slots, "Number of slots held now.");
    fields("experiments", self.experiments, "Number of experiments.");
    fields("trials", self.trials, "Number of trials of these experiments, since they began.");
  }
};

struct Usage {
  static constexpr Schema schema{"Usage", "Slot time."};
  OneOf<"user", "workspace", "experiment"> by{};
  std::uint64_t since = 0;
  double until = 0;
  std::vector<Used> usage{};

  static void list_fields(auto& fields, auto& self) {
    fields("by", self.by, "What the rows stand for.");
    fields("since", self.since, "Start of an hour; 0: the beginning.");
    fields("until", self.until, "The time of this answer.");
    fields("usage", self.usage, "The rows, largest slot time first.");
  }
};

struct AuditEntry {
  static constexpr Schema schema{"AuditEntry",
                                 "A request that changed something, was refused or signed somebody in."};
  std::uint64_t number = 0;
  double time = 0;
  std::string request{};
  OneOf<"socket", "tcp", "tls", "workers"> channel{};
  std::string from{};
  std::string name{};
  std::string token{};
  std::string role{};
  std::optional<std::string> workspace{};
  std::optional<std::string> resource{};
  std::string method{};
  std::string path{};
  std::uint64_t status = 0;
  std::optional<std::uint64_t> count{};
  std::string previous{};

  static void list_fields(auto& fields, auto& self) {
    fields("number", self.number, "Number of the line, from 1.");
    fields("time", self.time, "When the request was answered.");
    fields("request", self.request, "`X-Request-Id` of the answer.");
    fields("channel", self.channel, "How the request came.");
    fields("from", self.from, "User or address from which it came.");
    fields("name", self.name, "Name of the caller; \"\" for strangers.");
    fields("token", self.token, "ID of the caller's token; \"\" without a token.");
    fields("role", self.role, "Role of the caller.");
    fields.maybe("workspace", self.workspace, "Workspace of what was changed; \"\" if it has none.");
    fields.maybe("resource", self.resource, "What was changed or created, such as `experiments/3`.");
    fields("method", self.method, "Method of the request.");
    fields("path", self.path, "Path of the request, cut if it is long.");
    fields("status", self.status, "Status of the answer.");
    fields.maybe("count", self.count,
                 "For a refusal: the number of further refused requests of this address or token within a "
                 "minute that the line stands for.");
    fields("previous", self.previous, "SHA-256 of the line before.");
  }
};

struct AuditPage {
  static constexpr Schema schema{"AuditPage", "A page of the audit log, oldest first."};
  std::vector<AuditEntry> entries{};
  std::optional<std::uint64_t> next{};

  static void list_fields(auto& fields, auto& self) {
    fields("entries", self.entries, "The lines, oldest first.");
    fields("next", self.next, "The next page's `after`; null on the last page.");
  }
};

struct Session {
  static constexpr Schema schema{"Session", "A browser that is signed in."};
  std::string name{};
  OneOf<"viewer", "submitter", "operator", "admin"> role{};
  std::vector<std::string> workspaces{};
  bool makes_tokens = false;
  std::string page_key{};
  std::optional<double> expires_at{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the token or the user.");
    fields("role", self.role, "Role of the session.");
    fields("workspaces", self.workspaces, "Workspaces in which it has this role; [\"*\"]: all.");
    fields("makes_tokens", self.makes_tokens,
           "Whether the session may create and rotate tokens, if its role allows that.");
    fields("page_key", self.page_key,
           "What the browser sends in the header X-Hpsearch-Page-Key with each request, beside its cookie. "
           "Only the answer to a sign-in contains it; elsewhere it is \"\".");
    fields("expires_at", self.expires_at, "When the session ends at the latest; null without a cookie.");
  }
};

struct SignIn {
  static constexpr Schema schema{"SignIn", "What a browser signs in with: one of the two.",
                                 Schema::Kind::body};
  std::optional<std::string> token{};
  std::optional<std::string> code{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("token", self.token, "A token; either this or `code`.");
    fields.maybe("code", self.code, "A code of `hpsearch open`; either this or `token`.");
  }
};

struct SignInCodeRequest {
  static constexpr Schema schema{"SignInCodeRequest", "The session that the code begins.",
                                 Schema::Kind::body};
  std::optional<bool> makes_tokens{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("makes_tokens", self.makes_tokens,
                 "Whether the session may create and rotate tokens; only admins may ask for that.");
  }
};

struct SignInCode {
  static constexpr Schema schema{"SignInCode", "A code with which a browser signs in."};
  std::string code{};
  double expires_in_seconds = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("code", self.code, "The code, which works once.");
    fields("expires_in_seconds", self.expires_in_seconds, "How long the code works.");
  }
};

struct SignInProvider {
  static constexpr Schema schema{"SignInProvider", "Where people sign in, beside tokens."};
  std::optional<std::string> name{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the OpenID provider; null: there is none.");
  }
};

struct SignInAtProvider {
  static constexpr Schema schema{"SignInAtProvider", "A sign-in at the OpenID provider that has begun."};
  std::string address{};
  std::string key{};

  static void list_fields(auto& fields, auto& self) {
    fields("address", self.address, "The browser goes there. It returns to the page /login.");
    fields("key", self.key, "What the browser keeps, and sends with the provider's answer.");
  }
};

struct ProviderAnswer {
  static constexpr Schema schema{"ProviderAnswer", "What a browser brings back from the OpenID provider.",
                                 Schema::Kind::body};
  std::string state{};
  std::string code{};
  std::string key{};

  static void list_fields(auto& fields, auto& self) {
    fields("state", self.state, "`state` of the address to which the provider sent the browser.");
    fields("code", self.code, "`code` of that address.");
    fields("key", self.key, "The key with which the sign-in began.");
  }
};

struct HttpPort {
  static constexpr Schema schema{"HttpPort", "Where browsers reach the daemon."};
  std::string http{};

  static void list_fields(auto& fields, auto& self) {
    fields("http", self.http, "`HOST:PORT`, or `https://HOST:PORT#FINGERPRINT`.");
  }
};

struct Caller {
  static constexpr Schema schema{"Caller", "Who sends the requests."};
  std::string name{};
  std::string owner{};
  std::string role{};
  std::vector<std::string> workspaces{};
  std::string unix_user{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name,
           "Token or user, such as \"token ci\", \"user ann@example.org\" or \"uid 1000\".");
    fields("owner", self.owner, "The name of the same token or user as experiments show it.");
    fields("role", self.role, "The role of the caller.");
    fields("workspaces", self.workspaces, "Workspaces in which it has this role; [\"*\"]: all.");
    fields("unix_user", self.unix_user,
           "The user that runs its programs on workers with `--run-as submitter`; \"\": none.");
  }
};

struct Token {
  static constexpr Schema schema{"Token", "A token without its secret."};
  std::string id{};
  std::string name{};
  OneOf<"viewer", "submitter", "operator", "admin"> role{};
  std::vector<std::string> workspaces{};
  std::optional<double> created{};
  std::optional<double> expires{};
  std::optional<double> last_used_day{};
  std::string creator{};
  std::string unix_user{};

  static void list_fields(auto& fields, auto& self) {
    fields("id", self.id, "ID of the token.");
    fields("name", self.name, "Name of the token.");
    fields("role", self.role, "Role of the token.");
    fields("workspaces", self.workspaces, "Workspaces in which it has this role; [\"*\"]: all.");
    fields("created", self.created, "When it was created; null if unknown.");
    fields("expires", self.expires, "When it expires; null: never.");
    fields("last_used_day", self.last_used_day,
           "Start of the day on which it was used last; null: never used.");
    fields("creator", self.creator, "Token or user that created it.");
    fields("unix_user", self.unix_user,
           "The user that runs its programs on workers with `--run-as submitter`; \"\": none.");
  }
};

struct NewToken : Token {
  static constexpr Schema schema{"NewToken", "A token with its secret."};
  std::string token{};

  static void list_fields(auto& fields, auto& self) {
    Token::list_fields(fields, self);
    fields("token", self.token, "The secret. No other answer contains it.");
  }
};

struct TokenList {
  static constexpr Schema schema{"TokenList", "All tokens."};
  std::vector<Token> tokens{};

  static void list_fields(auto& fields, auto& self) {
    fields("tokens", self.tokens, "All tokens, without their secrets.");
  }
};

struct RevokedToken {
  static constexpr Schema schema{"RevokedToken", "A token that is revoked."};
  std::string revoked{};

  static void list_fields(auto& fields, auto& self) {
    fields("revoked", self.revoked, "ID of the revoked token.");
  }
};

struct TokenRequest {
  static constexpr Schema schema{"TokenRequest", "The token to create.", Schema::Kind::body};
  std::string name{};
  OneOf<"viewer", "submitter", "operator", "admin"> role{};
  std::optional<std::vector<std::string>> workspaces{};
  std::optional<std::optional<double>> expires_in_seconds{};
  std::optional<std::optional<std::string>> unix_user{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the new token.");
    fields("role", self.role, "Role of the new token.");
    fields.maybe("workspaces", self.workspaces,
                 "Workspaces in which it has this role; [\"*\"] or missing: all.");
    fields.maybe("expires_in_seconds", self.expires_in_seconds,
                 "Life of the token, above 0 and up to 31536000; null (never) only for an admin over the "
                 "Unix socket; missing: 90 days.");
    fields.maybe(
        "unix_user", self.unix_user,
        "The user that runs its programs on workers with `--run-as submitter`; null or missing: none.");
  }
};

struct Invite {
  static constexpr Schema schema{"Invite", "An invite for workers, without its secret."};
  std::string id{};
  OneOf<"open", "used up", "expired", "revoked"> state{};
  double created = 0;
  double expires = 0;
  std::uint64_t uses = 0;
  std::uint64_t used = 0;
  std::string creator{};
  std::vector<std::string> workers{};

  static void list_fields(auto& fields, auto& self) {
    fields("id", self.id, "ID of the invite.");
    fields("state", self.state, "Whether workers can join with it, or why not.");
    fields("created", self.created, "When it was created.");
    fields("expires", self.expires, "When it expires.");
    fields("uses", self.uses, "How many workers may join with it.");
    fields("used", self.used, "How many have joined.");
    fields("creator", self.creator, "Token or user that created it.");
    fields("workers", self.workers, "Names of the workers that have joined; at most 1000.");
  }
};

struct NewInvite : Invite {
  static constexpr Schema schema{"NewInvite", "An invite with its token."};
  std::string address{};
  std::string token{};

  static void list_fields(auto& fields, auto& self) {
    Invite::list_fields(fields, self);
    fields("address", self.address, "Where the workers will reach the daemon: `tcp://HOST:PORT`.");
    fields("token", self.token, "The token for `hpsearch-worker join`. No other answer contains it.");
  }
};

struct InviteList {
  static constexpr Schema schema{"InviteList", "The open invites, and those that ended in the last 7 days."};
  std::vector<Invite> invites{};

  static void list_fields(auto& fields, auto& self) {
    fields("invites", self.invites, "The invites, oldest first, without their secrets.");
  }
};

struct InviteRequest {
  static constexpr Schema schema{"InviteRequest", "The invite to create.", Schema::Kind::body};
  std::optional<double> expires_in_seconds{};
  std::optional<std::uint64_t> uses{};
  std::optional<std::string> address{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("expires_in_seconds", self.expires_in_seconds,
                 "Life of the invite, above 0 and up to 31536000; missing: 3600.");
    fields.maybe("uses", self.uses, "How many workers may join with it, 1 to 100000; missing: 1.");
    fields.maybe("address", self.address,
                 "Host by which the workers reach the daemon, or HOST:PORT; missing: the address on which it "
                 "listens, or the first one of its machine.");
  }
};

}  // namespace hpsearch::api
