#include "daemon/keys/invites.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "daemon/store/files/file_system.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/zmq/curve.hpp"
#include "hpsearch/io/zmq/invite_token.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::Result;
using engine::Status;

constexpr proto::JsonLimits invite_file_limits{16UL * 1024 * 1024, 8, 1'000'000};
constexpr std::size_t most_endpoint_chars = 300;
constexpr std::size_t most_listed_workers = 1'000;

struct InviteFile {
  std::vector<InviteRecord> invites;
};
void spell(auto& fields, proto::Is<InviteFile> auto& file) {
  fields("invites", file.invites);
}

bool is_reachable_endpoint(std::string_view endpoint) {
  constexpr std::string_view scheme = "tcp://";
  const std::size_t colon = endpoint.rfind(':');
  return endpoint.starts_with(scheme) && endpoint.size() <= most_endpoint_chars && colon > scheme.size() &&
         colon + 1 < endpoint.size() &&
         endpoint.find_first_not_of("0123456789", colon + 1) == std::string_view::npos &&
         std::all_of(endpoint.begin(), endpoint.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::string time_text(std::int64_t micros, Instant now) {
  const std::int64_t seconds = (now.micros() - micros) / 1'000'000;
  const auto [count, unit] = seconds >= 2 * 86'400  ? std::pair(seconds / 86'400, " days")
                             : seconds >= 2 * 3'600 ? std::pair(seconds / 3'600, " hours")
                             : seconds >= 2 * 60    ? std::pair(seconds / 60, " minutes")
                                                 : std::pair(std::max<std::int64_t>(seconds, 0), " seconds");
  return std::to_string(count) + unit + " ago";
}

Error ended(const InviteRecord& invite, Instant now) {
  constexpr const char* remedy = ". Ask for another one: hpsearch worker invite";
  const std::string whose = "invite " + invite.id();
  switch (invite.state(now)) {
    case InviteRecord::State::revoked:
      return {Errc::wrong_state, whose + " was revoked " + time_text(invite.revoked, now) + remedy};
    case InviteRecord::State::expired:
      return {Errc::wrong_state, whose + " expired " + time_text(invite.expires, now) + remedy};
    case InviteRecord::State::used_up:
    case InviteRecord::State::open:
      break;
  }
  return {Errc::wrong_state, whose + " is used up: " +
                                 (invite.uses == 1 ? std::string("a worker has")
                                                   : std::to_string(invite.used) + " workers have") +
                                 " joined with it" + remedy};
}

/// When the invite stopped to let workers in, as far as it is known.
std::int64_t end_of(const InviteRecord& invite) {
  return invite.revoked != 0 ? std::min(invite.revoked, invite.expires) : invite.expires;
}

}  // namespace

std::string InviteRecord::id() const {
  return net::invite_id(key);
}

InviteRecord::State InviteRecord::state(Instant now) const noexcept {
  return revoked != 0              ? State::revoked
         : used >= uses            ? State::used_up
         : expires <= now.micros() ? State::expired
                                   : State::open;
}

std::string_view InviteRecord::state_name(Instant now) const noexcept {
  switch (state(now)) {
    case State::open:
      return "open";
    case State::used_up:
      return "used up";
    case State::expired:
      return "expired";
    case State::revoked:
      return "revoked";
  }
  return "";
}

Invites::Invites(std::string state_directory)
    : directory_(std::move(state_directory)), path_(directory_ + "/invites.json") {
}

Result<Invites::Made> Invites::create(const Request& request, Instant now) {
  if (!is_reachable_endpoint(request.endpoint)) {
    return Error{Errc::bad_request, "the address for workers is \"" + request.endpoint +
                                        "\"; it must be tcp://HOST:PORT, as the other machines reach it"};
  }
  if (request.life <= engine::Duration() || request.life > longest_life) {
    return Error{Errc::bad_request, "an invite must last more than 0 seconds and at most 365 days"};
  }
  if (request.uses == 0 || request.uses > most_uses) {
    return Error{Errc::bad_request,
                 "an invite must have 1 to 100000 uses, not " + std::to_string(request.uses)};
  }
  const auto daemon_keys = net::curve_keys_in(directory_);
  if (!daemon_keys) {
    return daemon_keys.error();
  }
  auto keys = net::new_curve_keys();
  if (!keys) {
    return keys.error();
  }
  const auto lock = lock_beside(path_);
  if (!lock) {
    return lock.error();
  }
  auto all = list();
  if (!all) {
    return all.error();
  }
  std::erase_if(*all, [&](const InviteRecord& one) {
    return one.id() == net::invite_id(keys->public_key) ||
           end_of(one) + kept_after_end.in_micros() <= now.micros();
  });
  if (all->size() >= most_invites) {
    return Error{Errc::wrong_state,
                 "there are " + std::to_string(all->size()) +
                     " invites of the last 7 days, and there may be 1,000; give one invite more "
                     "uses instead"};
  }
  const InviteRecord record{.key = keys->public_key,
                            .created = now.micros(),
                            .expires = (now + request.life).micros(),
                            .uses = request.uses,
                            .creator = request.creator};
  all->push_back(record);
  if (const Status written = write(*all); !written) {
    return written.error();
  }
  return Made{record, net::InviteToken{request.endpoint, {daemon_keys->public_key, *std::move(keys)}}.text()};
}

Result<std::vector<InviteRecord>> Invites::list() const {
  const auto text = text_of_own_file(path_);
  if (!text) {
    return text.error();
  }
  if (text->empty()) {
    return Records();
  }
  const auto value = proto::parse_json(*text, invite_file_limits);
  auto file = value ? proto::decode_value<InviteFile>(*value) : Result<InviteFile>(value.error());
  if (!file) {
    return Error{Errc::corrupt,
                 path_ + ": " + file.error().message + ". Remove the file to start without invites"};
  }
  return std::move(file->invites);
}

Result<InviteRecord> Invites::revoke(std::string_view id, Instant now) {
  const auto lock = lock_beside(path_);
  if (!lock) {
    return lock.error();
  }
  auto all = list();
  if (!all) {
    return all.error();
  }
  const auto found =
      std::find_if(all->begin(), all->end(), [id](const InviteRecord& one) { return one.id() == id; });
  if (found == all->end()) {
    return Error{Errc::not_found,
                 "there is no invite " + std::string(id) + "; hpsearch worker invites lists them"};
  }
  if (found->revoked == 0) {
    found->revoked = now.micros();
    if (const Status written = write(*all); !written) {
      return written.error();
    }
  }
  return *found;
}

Status Invites::withdraw(const std::string& key, WorkerKeys& keys) {
  const auto lock = lock_beside(path_);
  if (!lock) {
    return lock.error();
  }
  auto all = list();
  if (!all) {
    return all.error();
  }
  const auto found =
      std::find_if(all->begin(), all->end(), [&key](const InviteRecord& one) { return one.key == key; });
  if (found == all->end()) {
    return engine::Done{};
  }
  for (const std::string& worker : found->workers) {
    if (const auto denied = keys.deny(worker); !denied && denied.error().code != Errc::not_found) {
      return denied.error();
    }
  }
  all->erase(found);
  return write(*all);
}

bool Invites::knows(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  if (const FileStamp now = FileStamp::of(path_); now != read_) {
    known_.clear();
    if (const auto all = list()) {
      read_ = now;
      problem_.clear();
      for (const InviteRecord& one : *all) {
        known_.push_back(one.key);
      }
      std::sort(known_.begin(), known_.end());
    } else if (all.error().message != problem_) {
      problem_ = all.error().message;
      net::log(net::Level::error, problem_ + ": no machine can join with an invite");
    }
  }
  return std::binary_search(known_.begin(), known_.end(), key);
}

Result<std::string> Invites::join(const std::string& invite_key, const WorkerKey& worker, bool replaces,
                                  WorkerKeys& keys, Instant now) {
  const auto lock = lock_beside(path_);
  if (!lock) {
    return lock.error();
  }
  auto all = list();
  if (!all) {
    return all.error();
  }
  const auto invite =
      std::find_if(all->begin(), all->end(), [&](const InviteRecord& one) { return one.key == invite_key; });
  if (invite == all->end()) {
    return Error{Errc::not_found, "the daemon does not have this invite any more"};
  }
  if (const auto name = keys.name_of(worker.key)) {
    return *name;
  }
  if (!is_worker_name(worker.name) || !net::is_curve_key(worker.key)) {
    return Error{Errc::bad_request,
                 "the worker's name is \"" + worker.name.substr(0, 100) +
                     "\"; it must be 1 to 64 letters, digits, '.', '_' and '-': give --name"};
  }
  // If the process was killed between the two files, this key has its use already.
  const auto counted = std::find(invite->joining.begin(), invite->joining.end(), worker.key);
  const bool is_counted = counted != invite->joining.end();
  const auto state = invite->state(now);
  if (state != InviteRecord::State::open && !(is_counted && state == InviteRecord::State::used_up)) {
    return ended(*invite, now);
  }
  const auto allowed = keys.list();
  if (!allowed) {
    return allowed.error();
  }
  const bool is_taken = std::any_of(allowed->begin(), allowed->end(),
                                    [&](const WorkerKey& one) { return one.name == worker.name; });
  if (is_taken && !replaces) {
    return Error{Errc::wrong_state,
                 "the name \"" + worker.name +
                     "\" belongs to another worker of this daemon. Give --name another "
                     "one; if the other worker is gone, forget it first: hpsearch worker forget " +
                     worker.name};
  }
  if (!is_counted) {
    ++invite->used;
    invite->joining.push_back(worker.key);
    if (invite->workers.size() < most_listed_workers) {
      invite->workers.push_back(worker.name);
    }
    if (const Status written = write(*all); !written) {
      return written.error();
    }
  }
  if (const Status done = keys.allow(worker); !done) {
    return done.error();  // The use stays this key's: the worker may try again.
  }
  std::erase(invite->joining, worker.key);
  if (const Status written = write(*all); !written) {
    net::log(net::Level::warning, written.error().message);
  }
  return worker.name;
}

Status Invites::write(const Records& all) const {
  const std::string text = proto::pretty_json(proto::encode_value(InviteFile{all})) + "\n";
  const std::array parts{std::as_bytes(std::span(text))};
  return write_file_durably(kernel_files(), path_, parts);
}

}  // namespace hpsearch::daemon
