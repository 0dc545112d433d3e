#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/keys/shared_file.hpp"
#include "daemon/keys/worker_keys.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// An invite as it is stored. Its secret is in the token only (net::InviteToken).
struct InviteRecord {
  std::string key;           ///< The public key of the token's pair; invite_id() of it is its name.
  std::int64_t created = 0;  ///< Microseconds since the epoch, by the daemon's clock, as the next two.
  std::int64_t expires = 0;
  std::int64_t revoked = 0;            ///< 0 = it is not.
  std::uint64_t uses = 1;              ///< How many workers may join with it.
  std::uint64_t used = 0;              ///< How many have joined.
  std::string creator{};               ///< "uid 0", "token NAME" or "allocation QUEUE/NUMBER".
  std::vector<std::string> joining{};  ///< Keys that are counted and not yet known to be allowed.
  std::vector<std::string> workers{};  ///< Names of those who have joined.

  [[nodiscard]] std::string id() const;
  enum class State : std::uint8_t { open, used_up, expired, revoked };
  [[nodiscard]] State state(engine::Instant now) const noexcept;
  /// "open", "used up", "expired", "revoked"
  [[nodiscard]] std::string_view state_name(engine::Instant now) const noexcept;
};

void spell(auto& fields, proto::Is<InviteRecord> auto& invite) {
  fields("key", invite.key);
  fields("created", invite.created);
  fields("expires", invite.expires);
  fields.maybe("revoked", invite.revoked);
  fields("uses", invite.uses);
  fields("used", invite.used);
  fields("creator", invite.creator);
  fields.maybe("joining", invite.joining);
  fields.maybe("workers", invite.workers);
}

/// The invites of a daemon, in the file invites.json of its state directory (mode 0600). A daemon and
/// `hpsearch cluster init` may change it at the same time.
///
/// Invites that have ended stay for kept_after_end, so that who comes with one reads why it does not work.
/// Threads: any. Changes are durable on return.
class Invites {
 public:
  static constexpr engine::Duration usual_life = engine::Duration::seconds(3600);
  static constexpr engine::Duration longest_life = engine::Duration::seconds(365LL * 24 * 3600);
  static constexpr engine::Duration kept_after_end = engine::Duration::seconds(7LL * 24 * 3600);
  static constexpr std::size_t most_invites = 1'000;
  static constexpr std::uint64_t most_uses = 100'000;

  explicit Invites(std::string state_directory);

  struct Request {
    std::string endpoint;  ///< Where workers reach the daemon: "tcp://HOST:PORT".
    engine::Duration life = usual_life;
    std::uint64_t uses = 1;
    std::string creator;
  };
  struct Made {
    InviteRecord record;
    std::string token;  ///< It is stored nowhere.
  };
  /// bad_request: endpoint, life or uses is wrong; wrong_state: there are too many; otherwise as list().
  [[nodiscard]] engine::Result<Made> create(const Request& request, engine::Instant now);

  /// The oldest first. corrupt, unavailable: the file cannot be read, or others may write it.
  [[nodiscard]] engine::Result<std::vector<InviteRecord>> list() const;

  /// not_found: there is no such invite.
  engine::Result<InviteRecord> revoke(std::string_view id, engine::Instant now);

  /// Forgets the invite with this public key at once, and denies the keys of the workers that joined with it.
  /// Nothing happens if there is none.
  engine::Status withdraw(const std::string& key, WorkerKeys& keys);

  /// Whether this public key is an invite's, open or not. Its owner may say JOIN, and nothing else.
  /// Cost: one stat(), and reading the file whenever it has changed.
  [[nodiscard]] bool knows(const std::string& key);

  /// Allows the worker's key and counts a use, both or neither, also if the process is killed in between. A
  /// key that is allowed already costs no use. The name of the worker, which is the present one of an allowed
  /// key. `replaces`: the name may go to another key than the ones it has.
  /// wrong_state: the invite has ended, or the name is taken; bad_request: no name or no key.
  engine::Result<std::string> join(const std::string& invite_key, const WorkerKey& worker, bool replaces,
                                   WorkerKeys& keys, engine::Instant now);

 private:
  using Records = std::vector<InviteRecord>;
  engine::Status write(const Records& all) const;

  std::string directory_;
  std::string path_;
  std::mutex mutex_;
  FileStamp read_;
  std::string problem_;             ///< From the last try to read it; "" = none. Each problem is logged once.
  std::vector<std::string> known_;  ///< Sorted.
};

}  // namespace hpsearch::daemon
