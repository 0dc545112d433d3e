// The part of WorkerSessions that grants sessions.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/sessions/worker_sessions.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {

using engine::WorkerId;

namespace {

// Each one is encoded whenever the workers are listed.
constexpr std::size_t most_devices = 512;
// A name and a key take less than 200 bytes.
constexpr std::size_t most_join_bytes = 1024;
// Each waits for the disk.
constexpr std::size_t most_joining = 64;
constexpr std::uint64_t join_retry_ms = 1'000;

struct RefusedHello {
  Refusal kind;
  std::string why;
};

/// Why the worker can't be greeted, independent of what the daemon knows about it.
std::optional<RefusedHello> refusal_of(const Runtime& runtime, const proto::Envelope& envelope,
                                       const proto::Hello& hello) {
  if (hello.speaks_from > proto::wire_version || hello.speaks_to < proto::wire_version) {
    return RefusedHello{Refusal::version, "the daemon uses version " + std::to_string(proto::wire_version) +
                                              " of the worker protocol, the worker supports " +
                                              std::to_string(hello.speaks_from) + " to " +
                                              std::to_string(hello.speaks_to) +
                                              "; install the same release on both"};
  }
  if (envelope.cluster != 0 && envelope.cluster != runtime.cluster()) {
    return RefusedHello{
        Refusal::store,
        "the worker's state directory belongs to another daemon's store; give the worker a new one"};
  }
  if (envelope.daemon_epoch > runtime.daemon_epoch()) {
    return RefusedHello{Refusal::store, "the worker has seen a later start of this store (" +
                                            std::to_string(envelope.daemon_epoch) + " > " +
                                            std::to_string(runtime.daemon_epoch()) +
                                            "); this daemon runs on an old copy of it"};
  }
  if (hello.uid.empty()) {
    return RefusedHello{Refusal::malformed, "the worker does not say who it is"};
  }
  if (hello.slots > proto::max_worker_slots) {
    return RefusedHello{Refusal::malformed, "the worker offers " + std::to_string(hello.slots) +
                                                " slots; at most " + std::to_string(proto::max_worker_slots) +
                                                " are possible"};
  }
  if (hello.devices.size() > most_devices) {
    return RefusedHello{Refusal::malformed, "the worker has " + std::to_string(hello.devices.size()) +
                                                " devices; at most " + std::to_string(most_devices) +
                                                " are possible"};
  }
  return std::nullopt;
}

engine::JoinWorker join_of(const proto::Hello& hello) {
  engine::JoinWorker join;
  join.uid = hello.uid;
  join.name = hello.name;
  join.incarnation = hello.incarnation;
  join.slots = hello.slots;
  join.slot_kind = hello.slot_kind;
  join.held = hello.held;
  join.devices = hello.devices;
  join.pool = hello.pool;
  join.labels = hello.labels;
  join.troubles = hello.troubles;
  join.address = hello.address;
  join.max_unslotted = hello.max_unslotted;
  join.allocation = hello.allocation;
  join.time_left = hello.time_left;
  return join;
}

}  // namespace

/// Sets the worker's name to that of its key, not to the one in the frame: a worker can't act under another
/// worker's name.
bool WorkerSessions::is_allowed(const net::Peer& peer, proto::Hello& hello) {
  if (!settings_.worker_of_key) {
    return true;
  }
  const std::string key = port_->sender_key();
  const auto name = settings_.worker_of_key(key);
  if (!name) {
    refuse(peer, Refusal::key, "the key " + key + " is not allowed any more", hello.incarnation);
    return false;
  }
  const auto known = runtime_.worker_with_uid(hello.uid);
  if (known && name_of(*known) != *name) {
    const std::string why = "the state directory of worker \"" + name_of(*known) +
                            "\" is spoken for with the key of \"" + *name +
                            "\": give the worker a new directory, or allow its key under the former name";
    net::log(net::Level::warning, why);
    refuse(peer, Refusal::key, why, hello.incarnation);
    return false;
  }
  hello.name = *name;
  return true;
}

/// A guest that sends anything but one JOIN at a time is disconnected: it is not a worker yet.
void WorkerSessions::take_from_guest(const net::Peer& peer, std::span<const std::byte> frame) {
  const auto framed = frame.size() <= most_join_bytes
                          ? proto::decode_from_worker(frame)
                          : engine::Result<proto::Framed<proto::FromWorker>>(
                                engine::Error{engine::Errc::corrupt, "a JOIN is too large"});
  const proto::Join* join = framed ? std::get_if<proto::Join>(&framed->message) : nullptr;
  if (join == nullptr || joining_.contains(peer) || !settings_.on_join) {
    port_->cut_sender();
    return;
  }
  ++counts_.received[proto::name_of(framed->message)];
  if (const auto retry_after = hello_limit_.retry_after_ms(runtime_.now())) {
    send_to(peer, 0, 0, proto::RetryAfter{*retry_after});
    return;
  }
  hello_limit_.greeted(runtime_.now());
  if (joining_.size() >= most_joining) {
    send_to(peer, 0, 0, proto::RetryAfter{join_retry_ms});
    return;
  }
  joining_.insert(peer);
  settings_.on_join({port_->sender_key(), port_->sender_address()}, *join,
                    [this, peer](const engine::Result<proto::Joined>& joined) {
                      joining_.erase(peer);
                      if (joined) {
                        send_to(peer, 0, 0, *joined);
                      } else {
                        refuse(peer, Refusal::invite, joined.error().message, 0);
                      }
                    });
}

/// libzmq cannot close one connection, but the daemon can ignore it.
void WorkerSessions::end_what_is_not_allowed() {
  if (!settings_.worker_of_key) {
    return;
  }
  if (settings_.keys_version) {
    const std::uint64_t version = settings_.keys_version();
    if (std::exchange(keys_seen_, version) == version) {
      return;
    }
  }
  std::vector<net::Peer> denied;
  for (const auto& [peer, session] : sessions_) {
    if (!settings_.worker_of_key(session.key)) {
      denied.push_back(peer);
    }
  }
  for (const net::Peer& peer : denied) {
    const Session& session = sessions_.at(peer);
    net::log(net::Level::warning,
             "worker \"" + name_of(session.worker) + "\" is disconnected: its key is not allowed any more",
             net::about_worker(name_of(session.worker)));
    // Sent as an answer to its HELLO: while it holds attempts it keeps retrying, in case the key was removed
    // by mistake.
    refuse(peer, Refusal::key, "the key " + session.key + " is not allowed any more",
           counterparts_[session.worker].agent.incarnation);
    end_session(peer);
  }
}

/// Two agents run on copies of one state directory. The daemon can't find out which one is the original, so
/// neither gets a session until one of them is restarted and thereby is the later one. Their programs keep
/// running.
bool WorkerSessions::is_clone(const net::Peer& peer, const proto::Hello& hello) {
  const auto id = runtime_.worker_with_uid(hello.uid);
  const auto found = id ? counterparts_.find(*id) : counterparts_.end();
  if (found == counterparts_.end()) {
    return false;
  }
  Counterpart& counterpart = found->second;
  const Agent& known = counterpart.agent;
  if (hello.incarnation != known.incarnation) {
    if (hello.incarnation > known.incarnation) {
      counterpart.cloned.clear();
    }
    return false;
  }
  const bool same = hello.boot_id == known.boot_id && hello.pid == known.pid && hello.nonce == known.nonce;
  if (counterpart.cloned.empty() && (same || hello.pid == 0 || known.pid == 0)) {
    return false;
  }
  if (counterpart.cloned.empty()) {
    counterpart.cloned =
        "two agents run as worker \"" + hello.name + "\" (processes " + std::to_string(known.pid) + " and " +
        std::to_string(hello.pid) +
        "), on copies of one state directory; give one of them a new directory, and start the other "
        "again";
    net::log(net::Level::error, counterpart.cloned);
    if (const net::Peer older = counterpart.peer; !older.empty()) {
      refuse(older, Refusal::clone, counterpart.cloned, 0);
      end_session(older);
    }
    static_cast<void>(runtime_.perform(engine::QuarantineWorker{*id, counterpart.cloned}));
  }
  refuse(peer, Refusal::clone, counterpart.cloned, hello.incarnation);
  return true;
}

void WorkerSessions::greet(const net::Peer& peer, const proto::Envelope& envelope,
                           const proto::Hello& hello) {
  if (const auto refused = refusal_of(runtime_, envelope, hello)) {
    refuse(peer, refused->kind, refused->why, hello.incarnation);
    return;
  }
  if (is_clone(peer, hello)) {
    return;
  }
  const auto known = runtime_.worker_with_uid(hello.uid);
  // A connection belongs to one worker: a HELLO of another worker on it ends the first one's session.
  if (const auto before = sessions_.find(peer); before != sessions_.end() && before->second.worker != known) {
    end_session(peer);
  }
  const engine::JoinWorker join = join_of(hello);
  if (const engine::Status may = runtime_.engine().may_join(join); !may) {
    refuse(peer, Refusal::engine, may.error().message,
           hello.incarnation);  // As if the worker had sent nothing.
    return;
  }
  if (known) {
    const Counterpart& counterpart = counterparts_[*known];
    if (hello.incarnation == counterpart.agent.incarnation && envelope.msg_no <= counterpart.hello) {
      return;  // A later start on another connection has replaced it; what it holds was held then.
    }
    if (hello.incarnation > counterpart.agent.incarnation) {
      runtime_.set_draining(*known, false);  // The earlier agent was draining, not this one.
    }
  }
  runtime_.set_taken(hello.uid, hello.shared ? hello.shared->taken : std::vector<engine::SlotTrouble>());
  // Before the step, so that it may give the worker leases at once.
  const bool was_connected = known && connected(*known);
  if (known) {
    runtime_.connected(*known);
  }
  const auto joined = runtime_.perform(
      join, [this, peer, incarnation = hello.incarnation](const engine::Result<Runtime::Outcome>& outcome) {
        if (!outcome) {
          refuse(peer, Refusal::engine, outcome.error().message, incarnation);
        }
      });
  if (!joined) {
    if (known && !was_connected) {
      runtime_.disconnected(*known);
    }
    return;
  }
  begin_session(peer, envelope, hello, *joined->joined);
}

void WorkerSessions::begin_session(const net::Peer& peer, const proto::Envelope& envelope,
                                   const proto::Hello& hello, WorkerId worker) {
  runtime_.connected(worker);
  Counterpart& counterpart = counterparts_[worker];
  if (counterpart.peer != peer) {
    const auto older = sessions_.find(counterpart.peer);
    if (older != sessions_.end()) {
      older->second.superseded = true;
      older->second.superseded_at = runtime_.now();
      if (hello.incarnation > counterpart.agent.incarnation) {
        // Names that start by its number: a replayed HELLO of it may have come over the later one's
        // connection.
        refuse(older->first, Refusal::superseded,
               "a later start of worker \"" + hello.name + "\" has taken its place",
               counterpart.agent.incarnation);
      }
    }
  }
  counterpart.agent = Agent{hello.incarnation, hello.boot_id, hello.pid, hello.nonce};
  counterpart.about = {hello.kills_by, hello.host, hello.version};
  counterpart.checkpoint_problem.clear();
  counterpart.shared = hello.shared ? std::optional(hello.shared->number) : std::nullopt;
  counterpart.progress.clear();
  counterpart.held.clear();
  for (const engine::HeldAttempt& held : hello.held) {
    counterpart.held.emplace(held.key, held);
  }
  counterpart.on_hold.clear();
  counterpart.in_doubt.clear();
  note_heard(counterpart);
  counterpart.peer = peer;
  counterpart.hello = envelope.msg_no;
  counterpart.welcomed = false;
  ++counterpart.welcomes_due;
  // The order to welcome it repeats what it does not know; orders to the earlier session are void.
  counterpart.outbox.clear();
  sessions_[peer] = Session{
      worker, (runtime_.daemon_epoch() << 32U) | ++sessions_made_, 0, 0, false, {}, port_->sender_key()};
  net::log(net::Level::info,
           "worker \"" + hello.name + "\" is connected with " + std::to_string(hello.slots) + " " +
               hello.slot_kind + " slots, holding " + std::to_string(hello.held.size()) + " attempts",
           net::about_worker(hello.name));
}

void WorkerSessions::refuse(const net::Peer& peer, Refusal kind, const std::string& why,
                            std::uint64_t incarnation) {
  ++counts_.refused.at(static_cast<std::size_t>(kind));
  net::log(net::Level::warning, "rejected a worker: " + why);
  send_to(peer, 0, 0, proto::Refused{why, incarnation});
}

}  // namespace hpsearch::daemon
