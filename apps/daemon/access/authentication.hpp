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
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// Who sends a request.
struct Caller {
  Role role = Role::anyone;
  std::string name;                    ///< "uid 0", "token NAME", "worker", or "" for anyone.
  std::string token_id;                ///< "" without a token.
  bool is_local = false;               ///< The daemon's user or root, over the Unix socket.
  std::optional<std::uint32_t> uid{};  ///< The user, over the Unix socket or signed in from there.
  std::string token_hash{};            ///< Of the token's secret.
  Scope scope{};                       ///< The workspaces in which it has its role.
  std::string unix_user{};             ///< Of the token (TokenRecord::unix_user).
  std::string session{};               ///< Hash of the browser's session; "" = no session says who it is.
  bool may_make_tokens = true;         ///< False for sessions that were not begun for it, whatever the role.
};

/// By which name others know who it is: that of the token, or of the user ("uid 1000" if it has none). May
/// ask a directory service.
[[nodiscard]] std::string owner_name(const Caller& caller);

/// As whom workers with --run-as submitter run what it submits: the unix_user of its token, or the user of
/// the Unix socket; "" = neither is known. May ask a directory service.
[[nodiscard]] std::string unix_user_of(const Caller& caller);

/// The owner of an Idempotency-Key in the caller's request: the id of the token, or a name ("uid 1000").
[[nodiscard]] std::string key_owner(const Caller& caller);

/// The same as owner_name() for the log, as events say it: that of the token, or "uid:1000"; "" for anyone.
[[nodiscard]] std::string actor_of(const Caller& caller);

/// Tells who sends a request.
///
/// Over the Unix socket the kernel says whose process it is: the daemon's own user and root are admins,
/// members of some groups have the role of their group (Rules::groups), others are refused. Over TCP a token
/// says it (Authorization: Bearer), or the session of a browser that has signed in: its cookie together with
/// its page key (SessionSecrets). Whoever shows a wrong token gets 401, and after five of them in a minute
/// 429; a right one counts even then, so that nobody can lock others out. A session that is wrong or has
/// ended counts as none. Threads: one. Cost: one SHA-256 and a look at each token.
class Authentication {
 public:
  struct Rules {
    std::uint32_t owner = 0;  ///< uid of the daemon.
    bool open = false;        ///< Over TCP everybody is an admin.
    std::vector<GroupRole> groups{};
  };
  /// Whether this is the key of a session of a worker.
  using IsWorkerKey = std::function<bool(std::string_view key)>;
  /// Called when a token's use is to be stored.
  using OnUse = std::function<void(std::string id)>;

  static constexpr unsigned failures_a_minute = 5;
  static constexpr std::size_t most_addresses = 10'000;

  /// `sessions`: of browsers; none = they can't sign in.
  Authentication(const Tokens& tokens, Rules rules, IsWorkerKey is_worker_key = {}, OnUse on_use = {},
                 Sessions* sessions = nullptr)
      : tokens_(tokens),
        rules_(std::move(rules)),
        groups_(rules_.groups),
        is_worker_key_(std::move(is_worker_key)),
        on_use_(std::move(on_use)),
        sessions_(sessions) {}

  /// Who it is, or what it is answered.
  [[nodiscard]] std::variant<Caller, net::HttpResponse> caller_of(const net::HttpRequest& request,
                                                                  engine::Instant now);

  /// Who signs in with that token, or what is answered. Guesses count as those of other requests do.
  [[nodiscard]] std::variant<Caller, net::HttpResponse> caller_with(const std::string& token,
                                                                    const net::HttpRequest& request,
                                                                    engine::Instant now);
  /// The answer to a wrong code, which counts as a guess.
  [[nodiscard]] net::HttpResponse wrong_code(const net::HttpRequest& request, engine::Instant now);

 private:
  struct Failures {
    engine::Instant since;
    unsigned count = 0;
  };
  [[nodiscard]] net::HttpResponse refused(const std::string& address, const std::string& why,
                                          engine::Instant now);
  [[nodiscard]] std::optional<Caller> signed_in(const net::HttpRequest& request, engine::Instant now);
  [[nodiscard]] bool is_owner(std::uint32_t uid) const noexcept { return uid == 0 || uid == rules_.owner; }
  [[nodiscard]] std::optional<Role> role_of_user(std::uint32_t uid, engine::Instant now);

  void note_use(const TokenRecord& token, engine::Instant now);

  const Tokens& tokens_;
  Rules rules_;
  UnixGroups groups_;
  IsWorkerKey is_worker_key_;
  OnUse on_use_;
  Sessions* sessions_;
  std::map<std::string, Failures, std::less<>> failures_;  ///< By address.
  std::map<std::string, std::int64_t> noted_;  ///< The day on which a token's use was last told, by its id.
};

/// The text after "Authorization: Bearer "; "" if there is no such header.
[[nodiscard]] std::string_view bearer_of(const net::HttpRequest& request) noexcept;

/// The answer to a request without a token where one is needed.
[[nodiscard]] net::HttpResponse token_needed();

}  // namespace hpsearch::daemon
