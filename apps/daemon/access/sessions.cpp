#include "daemon/access/sessions.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "daemon/store/files/file_system.hpp"
#include "daemon/store/files/own_file.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Instant;
using engine::Result;
using engine::Status;

constexpr proto::JsonLimits session_file_limits{4UL * 1024 * 1024, 8, 100'000};

struct SessionFile {
  std::vector<SessionRecord> sessions;
};
void spell(auto& fields, proto::Is<SessionFile> auto& file) {
  fields("sessions", file.sessions);
}

bool has_ended(const SessionRecord& session, Instant now) {
  return session.begun + Sessions::longest_life.in_micros() <= now.micros() ||
         session.used + Sessions::longest_idle.in_micros() <= now.micros() ||
         (session.who.until != 0 && session.who.until <= now.micros());
}

Instant last_moment_of(const SessionRecord& session) {
  const Instant longest = Instant::from_micros(session.begun) + Sessions::longest_life;
  return session.who.until == 0 ? longest : std::min(longest, Instant::from_micros(session.who.until));
}

std::vector<SessionRecord> read_sessions(const std::string& path) {
  if (!check_written_by_owner_alone(path)) {
    return {};
  }
  const auto bytes = kernel_files().read(path);
  const auto value = bytes ? proto::parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                                               session_file_limits)
                           : Result<engine::Value>(bytes.error());
  auto file = value ? proto::decode_value<SessionFile>(*value) : Result<SessionFile>(value.error());
  return file ? std::move(file->sessions) : std::vector<SessionRecord>();
}

}  // namespace

Sessions::Sessions(std::string state_directory) : path_(std::move(state_directory) + "/sessions.json") {
  for (SessionRecord& session : read_sessions(path_)) {
    stored_uses_[session.hash] = session.used;
    all_.emplace(session.hash, std::move(session));
  }
}

Result<SessionSecrets> Sessions::begin(const SignedIn& who, Instant now) {
  SessionSecrets secrets{new_secret(), new_secret()};
  const std::string hash = hash_of(secrets.cookie);
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(all_, [now](const auto& one) { return has_ended(one.second, now); });
    if (all_.size() >= most_sessions) {
      all_.erase(std::min_element(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
        return a.second.used < b.second.used;
      }));
    }
    all_.emplace(hash, SessionRecord{hash, hash_of(secrets.page_key), who, now.micros(), now.micros()});
  }
  if (Status stored = store(); !stored) {
    const std::scoped_lock lock(mutex_);
    all_.erase(hash);
    return stored.error();
  }
  return secrets;
}

std::optional<SessionRecord> Sessions::find(std::string_view cookie, std::string_view page_key, Instant now) {
  const std::string hash = hash_of(cookie);
  const std::string page_hash = hash_of(page_key);
  const std::scoped_lock lock(mutex_);
  const auto found = all_.find(hash);
  if (found == all_.end() || has_ended(found->second, now) ||
      !equal_hashes(page_hash, found->second.page_hash)) {
    return std::nullopt;
  }
  found->second.used = std::max(found->second.used, now.micros());
  return found->second;
}

bool Sessions::uses_are_due() const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [this](const auto& one) {
    const auto stored = stored_uses_.find(one.first);
    return stored == stored_uses_.end() || stored->second + use_stored_every.in_micros() <= one.second.used;
  });
}

void Sessions::store_uses(Instant now) {
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(all_, [now](const auto& one) { return has_ended(one.second, now); });
  }
  static_cast<void>(store());  // If this fails, the times of use are stored with the next change.
}

Status Sessions::end(std::string_view hash) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = all_.find(hash);
    if (found == all_.end()) {
      return Done{};
    }
    all_.erase(found);
  }
  return store();
}

bool Sessions::any(Instant now) const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(all_.begin(), all_.end(),
                     [now](const auto& one) { return !has_ended(one.second, now); });
}

std::string Sessions::new_code(const SignedIn& who, Instant now) {
  std::string code = new_secret();
  const std::scoped_lock lock(mutex_);
  std::erase_if(codes_, [now](const auto& one) { return one.second.expires <= now; });
  if (codes_.size() >= most_codes) {
    codes_.erase(std::min_element(codes_.begin(), codes_.end(), [](const auto& a, const auto& b) {
      return a.second.expires < b.second.expires;
    }));
  }
  codes_.emplace(hash_of(code), Code{who, now + code_life});
  return code;
}

std::optional<SignedIn> Sessions::take_code(std::string_view code, Instant now) {
  const std::string hash = hash_of(code);
  const std::scoped_lock lock(mutex_);
  const auto node = codes_.extract(hash);
  return node.empty() || node.mapped().expires <= now ? std::nullopt : std::optional(node.mapped().who);
}

std::optional<Instant> Sessions::end_of(std::string_view hash) const {
  const std::scoped_lock lock(mutex_);
  const auto found = all_.find(hash);
  return found == all_.end() ? std::nullopt : std::optional(last_moment_of(found->second));
}

Status Sessions::store() {
  const std::scoped_lock one_at_a_time(storing_);
  SessionFile file;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [hash, session] : all_) {
      file.sessions.push_back(session);
    }
  }
  const std::string text = proto::pretty_json(proto::encode_value(file)) + "\n";
  const std::array parts{std::as_bytes(std::span(text))};
  if (Status written = write_file_durably(kernel_files(), path_, parts); !written) {
    return written;
  }
  const std::scoped_lock lock(mutex_);
  stored_uses_.clear();
  for (const SessionRecord& session : file.sessions) {
    stored_uses_[session.hash] = session.used;
  }
  return Done{};
}

}  // namespace hpsearch::daemon
