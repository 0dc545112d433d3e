#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/role.hpp"
#include "daemon/access/token.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// The user or the person who signed in with a browser.
struct SignedIn {
  std::string name;          ///< As Caller::name; with an `issuer`: as Caller::person.
  std::string token_id{};    ///< The session ends with this token; "" = it came from a user of the socket.
  std::string token_hash{};  ///< Hash of the token's secret: the session ends when the secret is replaced,
                             ///< too.
  Role role = Role::viewer;  ///< Role of a user of the socket; a token's role is looked up at each request.
  std::optional<std::uint32_t> uid{};  ///< The user of the socket.
  bool makes_tokens = false;           ///< The code was requested with this right (hpsearch open --admin).
  std::string issuer{};                ///< The provider that signed a person in; "" = none did.
  std::vector<std::string> groups{};   ///< Groups of the person; roles are looked up at each request.
  std::int64_t until = 0;              ///< The session ends then, in microseconds since the epoch; 0 = later.
};

/// Two secrets that identify a new session; a request needs both. Browsers send the cookie to every port of
/// its host, so other programs of the machine see it. Only scripts of the page itself see the page key.
struct SessionSecrets {
  std::string cookie;
  std::string page_key;  ///< Sent in the header page_key_header.
};
inline constexpr std::string_view page_key_header = "X-Hpsearch-Page-Key";

/// A stored session, with hashes instead of its secrets.
struct SessionRecord {
  std::string hash;       ///< hash_of() the secret in its cookie.
  std::string page_hash;  ///< hash_of() its page key.
  SignedIn who;
  std::int64_t begun = 0;  ///< Microseconds since the epoch.
  std::int64_t used = 0;   ///< The same; stored only when it has grown by Sessions::use_stored_every.
};

void spell(auto& fields, proto::Is<SessionRecord> auto& session) {
  fields("sha256", session.hash);
  fields("page_key_sha256", session.page_hash);
  fields("name", session.who.name);
  fields.maybe("token", session.who.token_id);
  fields.maybe("token_sha256", session.who.token_hash);
  fields("role", session.who.role);
  fields.maybe("uid", session.who.uid);
  fields.maybe("makes_tokens", session.who.makes_tokens);
  fields.maybe("issuer", session.who.issuer);
  fields.maybe("groups", session.who.groups);
  fields.maybe("until", session.who.until);
  fields("begun", session.begun);
  fields("used", session.used);
}

/// Sessions of browsers, in the file sessions.json of the state directory (mode 0600): an open page stays
/// signed in when the daemon restarts. A file that can't be read counts as empty: users sign in again.
///
/// Threads: any. Changes return when they are durable; cost: one file of at most most_sessions lines.
class Sessions {
 public:
  static constexpr engine::Duration longest_idle = engine::Duration::seconds(12LL * 3600);
  static constexpr engine::Duration longest_life = engine::Duration::seconds(7LL * 24 * 3600);
  static constexpr engine::Duration use_stored_every = engine::Duration::seconds(15LL * 60);
  static constexpr engine::Duration code_life = engine::Duration::seconds(60);
  static constexpr std::size_t most_sessions = 1'000;
  static constexpr std::size_t most_codes = 100;

  explicit Sessions(std::string state_directory);
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// Begins a session and returns its secrets, which cannot be read again. If there are too many sessions,
  /// the one that was idle longest ends. unavailable: it can't be stored.
  [[nodiscard]] engine::Result<SessionSecrets> begin(const SignedIn& who, engine::Instant now);

  /// The session with both secrets, if it has not ended; records its use. Cost: two SHA-256.
  [[nodiscard]] std::optional<SessionRecord> find(std::string_view cookie, std::string_view page_key,
                                                  engine::Instant now);
  /// Whether the file has older times of use than it should; then store_uses() is due.
  [[nodiscard]] bool uses_are_due() const;
  void store_uses(engine::Instant now);

  /// Ends the session. Without effect if there is none.
  [[nodiscard]] engine::Status end(std::string_view hash);

  /// Whether a browser is signed in.
  [[nodiscard]] bool any(engine::Instant now) const;

  /// A code that begins one session within code_life. Codes are not stored.
  [[nodiscard]] std::string new_code(const SignedIn& who, engine::Instant now);
  /// Uses the code up and returns its owner.
  [[nodiscard]] std::optional<SignedIn> take_code(std::string_view code, engine::Instant now);

  /// When the session with this hash ends at the latest; null if there is none.
  [[nodiscard]] std::optional<engine::Instant> end_of(std::string_view hash) const;

 private:
  struct Code {
    SignedIn who;
    engine::Instant expires;
  };
  [[nodiscard]] engine::Status store();

  std::string path_;
  std::mutex storing_;        ///< Serializes writes of the file; taken before mutex_.
  mutable std::mutex mutex_;  ///< Guards the members below; held for memory accesses only.
  std::map<std::string, SessionRecord, std::less<>> all_;         ///< By hash.
  std::map<std::string, std::int64_t, std::less<>> stored_uses_;  ///< The times of use that the file has.
  std::map<std::string, Code, std::less<>> codes_;                ///< By hash.
};

}  // namespace hpsearch::daemon
