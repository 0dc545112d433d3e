#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/access/role.hpp"
#include "daemon/access/scope.hpp"
#include "daemon/access/token.hpp"
#include "daemon/keys/shared_file.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// The stored part of a token; its secret is not stored.
struct TokenRecord {
  std::string id;
  std::string hash;          ///< hash_of() its secret.
  std::string name;          ///< For people: 1 to 64 printable characters of ASCII, unique.
  Role role = Role::viewer;  ///< One of token_roles.
  std::int64_t created = 0;  ///< Microseconds since the epoch, like the next two.
  std::int64_t expires = 0;  ///< 0 = never.
  std::int64_t used = 0;     ///< The start of the day (UTC) on which it was last used; 0 = not yet.
  std::string creator;       ///< "uid 0" or "token NAME".
  std::vector<std::string> workspaces{};  ///< The workspaces in which it has its role; none = all.
  std::string unix_user{};  ///< The user as whom workers may run what it submits (proto::UnixUser); "" =
                            ///< none.
};

void spell(auto& fields, proto::Is<TokenRecord> auto& token) {
  fields("id", token.id);
  fields("sha256", token.hash);
  fields("name", token.name);
  fields("role", token.role);
  fields("created", token.created);
  fields("expires", token.expires);
  fields.maybe("used", token.used);
  fields("creator", token.creator);
  fields.maybe("workspaces", token.workspaces);
  fields.maybe("unix_user", token.unix_user);
}

/// The tokens of a daemon, in the file tokens.json of its state directory (mode 0600). They are not events: a
/// copied or replayed log gives no access.
///
/// An expired token is removed when its expiry is noticed, so a clock that is set back does not revive it.
/// Threads: any. Changes return when they are durable.
class Tokens {
 public:
  static constexpr engine::Duration longest_life = engine::Duration::seconds(365LL * 24 * 3600);
  static constexpr engine::Duration usual_life = engine::Duration::seconds(90LL * 24 * 3600);
  static constexpr std::size_t most_tokens = 1'000;
  static constexpr std::size_t most_name_chars = 64;

  /// Reads the file; a missing file has no tokens. If the file cannot be read, there are no tokens either,
  /// problem() has the reason, and changes are refused, so that a person can still look at its content.
  explicit Tokens(std::string state_directory);
  Tokens(const Tokens&) = delete;
  Tokens& operator=(const Tokens&) = delete;

  /// Why the file could not be used at the start; "" if it could.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  /// Reads the file again, which an operator has repaired or replaced. If that fails, nothing changes.
  [[nodiscard]] engine::Status reload();

  /// The record of a token whose secret is right and that has not expired. Takes the same time whatever is
  /// wrong. Cost: one SHA-256 and a comparison with at most `most_tokens` records.
  [[nodiscard]] std::optional<TokenRecord> find(const Token& token, engine::Instant now) const;

  /// Like find(), for a token that was found before: null if it has been revoked or replaced since.
  [[nodiscard]] std::optional<TokenRecord> find_again(std::string_view id, std::string_view hash,
                                                      engine::Instant now) const;

  [[nodiscard]] std::vector<TokenRecord> list(engine::Instant now) const;

  /// When the next of them expires; null: none does.
  [[nodiscard]] std::optional<engine::Instant> next_expiry(engine::Instant now) const;

  struct Made {
    TokenRecord record;
    std::string text;  ///< The token. It cannot be read again.
  };
  /// `life`: null = it never expires. bad_request: name, role or life is wrong; wrong_state: the name is
  /// taken; unavailable: it cannot be stored.
  [[nodiscard]] engine::Result<Made> create(const std::string& name, Role role,
                                            std::optional<engine::Duration> life, const std::string& creator,
                                            engine::Instant now, const Scope& scope = {},
                                            const std::string& unix_user = {});
  /// Gives the token a new secret and the lifetime that the old one had. not_found: there is no such token.
  [[nodiscard]] engine::Result<Made> rotate(std::string_view id, engine::Instant now);
  /// Takes effect from the next request on. not_found: there is no such token.
  [[nodiscard]] engine::Status revoke(std::string_view id);

  /// From now on changes are kept elsewhere as well. Call it before there are any.
  void keep_as_well(KeepAsWell keep) { keep_ = std::move(keep); }

  /// The start of that day (UTC), as in TokenRecord::used.
  [[nodiscard]] static std::int64_t day_of(engine::Instant now) noexcept;
  void note_use(std::string_view id, engine::Instant now);

 private:
  /// Changes a copy, stores it, and then uses it.
  [[nodiscard]] engine::Status change(const std::function<engine::Status(std::vector<TokenRecord>&)>& how);

  std::string path_;
  KeepAsWell keep_;             ///< Null: nowhere else.
  std::string problem_;         ///< Changed with changing_ only.
  std::mutex changing_;         ///< Serializes changes; taken before reading_.
  mutable std::mutex reading_;  ///< Held for memory accesses only.
  std::vector<TokenRecord> all_;
};

}  // namespace hpsearch::daemon
