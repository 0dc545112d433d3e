#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/access/role.hpp"
#include "daemon/access/scope.hpp"
#include "daemon/access/sessions.hpp"
#include "daemon/access/tokens.hpp"
#include "daemon/access/unix_groups.hpp"
#include "daemon/sign_on/proxy_header.hpp"
#include "daemon/sign_on/role_table.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// The sender of a request.
struct Caller {
  Role role = Role::anyone;
  std::string name;       ///< "uid 0", "token NAME", "user NAME", "worker", or "" for an anonymous caller.
  std::string token_id;   ///< "" without a token.
  bool is_local = false;  ///< The caller is the daemon's user or root, over the Unix socket.
  std::optional<std::uint32_t> uid{};  ///< The user, over the Unix socket or signed in from there.
  std::string token_hash{};            ///< Hash of the token's secret.
  Scope scope{};                       ///< The workspaces in which the caller has its role.
  std::string unix_user{};             ///< TokenRecord::unix_user of the token.
  std::string session{};  ///< Hash of the browser's session; "" = the caller is not identified by a session.
  std::string person{};   ///< Name of a person whom a provider or a proxy has signed in; "" = none.
  bool may_make_tokens = true;  ///< False for sessions that were not begun with this right, whatever the
                                ///< role.
};

/// The name that other users see: the token's or the person's name, or the user's ("uid 1000" if it has
/// none). May ask a directory service.
[[nodiscard]] std::string owner_name(const Caller& caller);

/// The user as whom workers with --run-as submitter run what the caller submits: the unix_user of its token,
/// or the user of the Unix socket; "" = neither is known. May ask a directory service.
[[nodiscard]] std::string unix_user_of(const Caller& caller);

/// The owner of an Idempotency-Key in the caller's request: the id of the token, or a name ("uid 1000").
[[nodiscard]] std::string key_owner(const Caller& caller);

/// owner_name() as events and the log spell it: the token's or the person's name, or "uid:1000"; "" for an
/// anonymous caller.
[[nodiscard]] std::string actor_of(const Caller& caller);

/// Identifies the sender of a request.
///
/// Over the Unix socket the kernel reports the user of the peer: the daemon's own user and root are admins,
/// members of some groups have the role of their group (Rules::groups), others are refused. Over TCP the
/// caller shows a token (Authorization: Bearer), or the session of a browser that has signed in: its cookie
/// together with its page key (SessionSecrets). A proxy that signs people in names them in a header
/// (Rules::proxy); that header is refused from all others. A wrong token is answered with 401, and after
/// five of them in a minute with 429; a right token is accepted even then, so that one client can't lock
/// others out. A wrong or ended session counts as none. Threads: one. Cost: one SHA-256 and one comparison
/// with each token.
class Authentication {
 public:
  struct Rules {
    std::uint32_t owner = 0;  ///< uid of the daemon.
    bool open = false;        ///< Over TCP every caller is an admin.
    std::vector<GroupRole> groups{};
    ProxyHeader proxy{};
  };
  /// Whether `key` belongs to a worker's session.
  using IsWorkerKey = std::function<bool(std::string_view key)>;
  /// Called when a token's use is to be stored.
  using OnUse = std::function<void(std::string id)>;

  static constexpr unsigned failures_a_minute = 5;
  static constexpr std::size_t most_addresses = 10'000;

  /// `sessions`: those of browsers; null = browsers can't sign in.
  Authentication(const Tokens& tokens, Rules rules, IsWorkerKey is_worker_key = {}, OnUse on_use = {},
                 Sessions* sessions = nullptr)
      : tokens_(tokens),
        rules_(std::move(rules)),
        groups_(rules_.groups),
        is_worker_key_(std::move(is_worker_key)),
        on_use_(std::move(on_use)),
        sessions_(sessions) {}

  /// From now on, people whom a provider or a proxy has signed in have the roles of their groups; sessions
  /// that another provider than `issuer` began have none.
  void use_roles(RoleTable roles, std::string issuer);
  /// The person as a caller, or the response to one without a role.
  [[nodiscard]] std::variant<Caller, net::HttpResponse> caller_of(const Person& person) const;
  [[nodiscard]] const RoleTable& roles() const noexcept { return roles_; }

  /// The caller, or the response that refuses it.
  [[nodiscard]] std::variant<Caller, net::HttpResponse> caller_of(const net::HttpRequest& request,
                                                                  engine::Instant now);

  /// The caller who signs in with this token, or the response that refuses it. Guesses count as those of
  /// other requests do.
  [[nodiscard]] std::variant<Caller, net::HttpResponse> caller_with(const std::string& token,
                                                                    const net::HttpRequest& request,
                                                                    engine::Instant now);
  /// The response to a wrong code, which counts as a guess.
  [[nodiscard]] net::HttpResponse wrong_code(const net::HttpRequest& request, engine::Instant now);

 private:
  struct Failures {
    engine::Instant since;
    unsigned count = 0;
  };
  [[nodiscard]] net::HttpResponse refused(const std::string& address, const std::string& why,
                                          engine::Instant now);
  [[nodiscard]] std::variant<Caller, net::HttpResponse> caller_over_socket(const net::HttpPeer& peer,
                                                                           engine::Instant now);
  [[nodiscard]] std::optional<Caller> signed_in(const net::HttpRequest& request, engine::Instant now);
  [[nodiscard]] bool is_owner(std::uint32_t uid) const noexcept { return uid == 0 || uid == rules_.owner; }
  [[nodiscard]] std::optional<Role> role_of_user(std::uint32_t uid, engine::Instant now);

  void note_use(const TokenRecord& token, engine::Instant now);

  const Tokens& tokens_;
  Rules rules_;
  UnixGroups groups_;
  RoleTable roles_;
  std::string issuer_;
  IsWorkerKey is_worker_key_;
  OnUse on_use_;
  Sessions* sessions_;
  std::map<std::string, Failures, std::less<>> failures_;  ///< By address.
  std::map<std::string, std::int64_t> noted_;  ///< The day on which a token's use was last passed to OnUse,
                                               ///< by its id.
};

/// The text after "Authorization: Bearer "; "" if there is no such header.
[[nodiscard]] std::string_view bearer_of(const net::HttpRequest& request) noexcept;

/// The response to a request without what would let it in.
[[nodiscard]] net::HttpResponse unauthorized(const std::string& why);

/// The response to a request that needs a token and has none.
[[nodiscard]] net::HttpResponse token_needed();

}  // namespace hpsearch::daemon
