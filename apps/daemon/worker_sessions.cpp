#include "daemon/worker_sessions.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "daemon/access/token.hpp"
#include "hpsearch/jobs/remote_storage.hpp"
#include "hpsearch/net/log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::WorkerId;

constexpr std::chrono::seconds tick_every{1};
// Frames still under way when a newer session began arrive within this; after it the old connection is a
// stranger and is told so.
constexpr Duration superseded_for = Duration::seconds(60);
// Who is told that there is no room for its reports sends them again after this.
constexpr std::uint64_t busy_ms = 4'000;
// What one step of the engine takes from a frame; workers send as many at most. A checkpoint is compared with
// all that its trial has.
constexpr std::size_t most_reports = 512;
constexpr std::size_t most_checkpoints = 16;
// Every one is spelled whenever the workers are listed.
constexpr std::size_t most_devices = 512;
constexpr std::uint64_t longest_silence_ms = 10ULL * 365 * 24 * 3'600 * 1'000;

/// How many of the reports, from the first on, one step may take.
std::size_t reports_of_a_step(const proto::Reports& reports) {
  std::size_t checkpoints = 0;
  for (std::size_t i = 0; i < reports.reports.size(); ++i) {
    checkpoints += std::holds_alternative<engine::CheckpointReport>(reports.reports[i]) ? 1U : 0U;
    if (i == most_reports || checkpoints > most_checkpoints) {
      return i;
    }
  }
  return reports.reports.size();
}

}  // namespace

WorkerSessions::WorkerSessions(Runtime& runtime, Settings settings)
    : runtime_(runtime),
      settings_(std::move(settings)),
      programs_(settings_.open_secrets),
      hello_limit_(settings_.hellos_per_second),
      log_requests_(settings_.log_patience) {
}

engine::Result<std::unique_ptr<WorkerSessions>> WorkerSessions::open(Runtime& runtime,
                                                                     const OpenPort& open_port,
                                                                     Settings settings) {
  std::unique_ptr<WorkerSessions> worker_sessions(new WorkerSessions(runtime, std::move(settings)));
  auto port =
      open_port([self = worker_sessions.get()](const net::Peer& peer, std::span<const std::byte> frame) {
        self->take_frame(peer, frame);
      });
  if (!port) {
    return port.error();
  }
  worker_sessions->port_ = std::move(port).value();
  worker_sessions->clock_ =
      runtime.loop().every(tick_every, [self = worker_sessions.get()] { self->tick(); });
  return worker_sessions;
}

void WorkerSessions::stop() {
  stopped_ = true;
  clock_ = net::Watch{};
  log_requests_.fail_all(Error{Errc::unavailable, "the daemon is shutting down"});
}

// --- from workers ---

void WorkerSessions::take_frame(const net::Peer& peer, std::span<const std::byte> frame) {
  if (stopped_) {
    return;
  }
  auto framed = proto::decode_from_worker(frame);
  if (!framed) {
    if (framed.error().code == Errc::version_mismatch) {
      refuse(peer, framed.error().message, 0);
    }
    net::log(net::Level::debug, "dropped a worker's frame: " + framed.error().message);
    return;
  }
  if (auto* hello = std::get_if<proto::Hello>(&framed->message)) {
    if (const auto retry_after = hello_limit_.retry_after_ms(runtime_.now())) {
      send_to(peer, 0, 0, proto::RetryAfter{*retry_after});
      return;
    }
    if (is_allowed(peer, *hello)) {
      greet(peer, framed->envelope, *hello);
    }
    return;
  }
  const auto found = sessions_.find(peer);
  if (found == sessions_.end()) {
    send_to(peer, 0, 0, proto::Resync{});
    return;
  }
  Session& session = found->second;
  if (session.superseded || framed->envelope.session_epoch != session.epoch) {
    return;
  }
  const auto worker = runtime_.engine().workers().find(session.worker);
  if (worker == runtime_.engine().workers().end() || !worker->second.present) {
    // Given up as lost while it was silent; it has to join again.
    end_session(peer);
    send_to(peer, 0, 0, proto::Resync{});
    return;
  }
  const WorkerId id = session.worker;
  runtime_.heard(id);
  log_requests_.heard(id);
  if (Counterpart& counterpart = counterparts_[id]; !counterpart.in_doubt.empty()) {
    // It answers to the WELCOME of its HELLO: what was not named there it does not have.
    static_cast<void>(
        runtime_.perform(engine::DisclaimAttempts{id, std::exchange(counterpart.in_doubt, {})}));
  }
  const bool newest = framed->envelope.msg_no > session.newest;
  session.newest = std::max(session.newest, framed->envelope.msg_no);
  if (const auto* beat = std::get_if<proto::Beat>(&framed->message)) {
    if (newest) {  // What was overtaken is older than what is known.
      take_beat(id, *beat);
    }
    return;
  }
  if (const auto* reports = std::get_if<proto::Reports>(&framed->message);
      reports != nullptr && !has_room_for(*reports)) {
    // Unacknowledged, it stays with the worker, which is to know that it was heard: it would try another
    // connection.
    send(id, proto::RetryAfter{busy_ms});
    return;
  }
  take(peer, id, framed->message);
}

/// Of the last room, what ends makes more: reports of programs that were told to end are taken, with their
/// exits.
bool WorkerSessions::has_room_for(const proto::Reports& reports) const {
  switch (runtime_.storage().intake) {
    case Intake::everything:
    case Intake::no_experiments:
      return true;
    case Intake::what_ends: {
      const engine::LiveAttempt* attempt = live_attempt(runtime_.engine(), reports.key);
      if (attempt == nullptr) {
        return true;  // Answered from what is known, nothing of it is stored.
      }
      return attempt->is_ending();
    }
    case Intake::nothing:
      return false;
  }
  return true;
}

/// Gives the worker the name of its key. Whose it is, its key says and not the frame: nobody with a key of
/// his own speaks for another worker.
bool WorkerSessions::is_allowed(const net::Peer& peer, proto::Hello& hello) {
  if (!settings_.worker_of_key) {
    return true;
  }
  const std::string key = port_->sender_key();
  const auto name = settings_.worker_of_key(key);
  if (!name) {
    refuse(peer, "the key " + key + " is not allowed any more", hello.incarnation);
    return false;
  }
  const auto known = runtime_.worker_with_uid(hello.uid);
  if (known && name_of(*known) != *name) {
    const std::string why = "the state directory of worker \"" + name_of(*known) +
                            "\" is spoken for with the key of \"" + *name +
                            "\": give the worker a new directory, or allow its key under the former name";
    net::log(net::Level::warning, why);
    refuse(peer, why, hello.incarnation);
    return false;
  }
  hello.name = *name;
  return true;
}

/// libzmq cannot close one connection, but nobody has to listen to it.
void WorkerSessions::end_what_is_not_allowed() {
  if (!settings_.worker_of_key) {
    return;
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
             "worker \"" + name_of(session.worker) + "\" is disconnected: its key is not allowed any more");
    // As an answer to its HELLO: while it holds attempts it goes on knocking, in case that was a mistake.
    refuse(peer, "the key " + session.key + " is not allowed any more",
           counterparts_[session.worker].agent.incarnation);
    end_session(peer);
  }
}

/// Two agents run on copies of one state directory. Which is the real one cannot be told, so neither gets a
/// session, until one is started again and thereby is the later one. What they run, runs on.
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
      refuse(older, counterpart.cloned, 0);
      end_session(older);
    }
    static_cast<void>(runtime_.perform(engine::QuarantineWorker{*id, counterpart.cloned}));
  }
  refuse(peer, counterpart.cloned, hello.incarnation);
  return true;
}

void WorkerSessions::greet(const net::Peer& peer, const proto::Envelope& envelope,
                           const proto::Hello& hello) {
  if (hello.speaks_from > proto::wire_version || hello.speaks_to < proto::wire_version) {
    refuse(peer,
           "the daemon uses version " + std::to_string(proto::wire_version) +
               " of the worker protocol, the worker supports " + std::to_string(hello.speaks_from) + " to " +
               std::to_string(hello.speaks_to) + "; install the same release on both",
           hello.incarnation);
    return;
  }
  if (envelope.cluster != 0 && envelope.cluster != runtime_.cluster()) {
    refuse(peer, "the worker's state directory belongs to another daemon's store; give the worker a new one",
           hello.incarnation);
    return;
  }
  if (envelope.daemon_epoch > runtime_.daemon_epoch()) {
    refuse(peer,
           "the worker has seen a later start of this store (" + std::to_string(envelope.daemon_epoch) +
               " > " + std::to_string(runtime_.daemon_epoch()) + "); this daemon runs on an old copy of it",
           hello.incarnation);
    return;
  }
  if (hello.uid.empty() || hello.slots > proto::max_worker_slots) {
    refuse(peer,
           hello.uid.empty() ? "the worker does not say who it is"
                             : "the worker offers " + std::to_string(hello.slots) + " slots; at most " +
                                   std::to_string(proto::max_worker_slots) + " are possible",
           hello.incarnation);
    return;
  }
  if (hello.devices.size() > most_devices) {
    refuse(peer,
           "the worker has " + std::to_string(hello.devices.size()) + " devices; at most " +
               std::to_string(most_devices) + " are possible",
           hello.incarnation);
    return;
  }
  if (is_clone(peer, hello)) {
    return;
  }
  const auto known = runtime_.worker_with_uid(hello.uid);
  // A connection is one worker's: whoever speaks as another on it is not that one any more.
  if (const auto before = sessions_.find(peer); before != sessions_.end() && before->second.worker != known) {
    end_session(peer);
  }
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
  if (const engine::Status may = runtime_.engine().may_join(join); !may) {
    refuse(peer, may.error().message, hello.incarnation);  // As if nothing had been heard of the worker.
    return;
  }
  if (known) {
    const Counterpart& counterpart = counterparts_[*known];
    if (hello.incarnation == counterpart.agent.incarnation && envelope.msg_no <= counterpart.hello) {
      return;  // It was overtaken by a later one on another connection; what it holds is what was held then.
    }
    if (hello.incarnation > counterpart.agent.incarnation) {
      runtime_.set_draining(*known, false);  // That was the agent before.
    }
  }
  // Before the step, so that it may give the worker work at once.
  const bool was_connected = known && connected(*known);
  if (known) {
    runtime_.connected(*known);
  }
  const auto joined = runtime_.perform(
      join, [this, peer, incarnation = hello.incarnation](const engine::Result<Runtime::Outcome>& outcome) {
        if (!outcome) {
          refuse(peer, outcome.error().message, incarnation);
        }
      });
  if (!joined) {
    if (known && !was_connected) {
      runtime_.disconnected(*known);
    }
    return;
  }
  const WorkerId worker = *joined->joined;
  runtime_.connected(worker);
  Counterpart& counterpart = counterparts_[worker];
  if (counterpart.peer != peer) {
    const auto older = sessions_.find(counterpart.peer);
    if (older != sessions_.end()) {
      older->second.superseded = true;
      older->second.superseded_at = runtime_.now();
      if (hello.incarnation > counterpart.agent.incarnation) {
        // To that start by its number: a HELLO of it that was played back may have come over the later one's
        // connection.
        refuse(older->first, "a later start of worker \"" + hello.name + "\" has taken its place",
               counterpart.agent.incarnation);
      }
    }
  }
  counterpart.agent = Agent{hello.incarnation, hello.boot_id, hello.pid, hello.nonce};
  counterpart.kills_by = hello.kills_by;
  counterpart.progress.clear();
  counterpart.held.clear();
  for (const engine::HeldAttempt& held : hello.held) {
    counterpart.held.emplace(held.key, held);
  }
  counterpart.on_hold.clear();
  counterpart.in_doubt.clear();
  counterpart.peer = peer;
  counterpart.hello = envelope.msg_no;
  counterpart.welcomed = false;
  ++counterpart.welcomes_due;
  // The order to welcome it repeats what it does not know; what was told to the session before is void.
  counterpart.outbox.clear();
  sessions_[peer] = Session{
      worker, (runtime_.daemon_epoch() << 32U) | ++sessions_made_, 0, 0, false, {}, port_->sender_key()};
  net::log(net::Level::info, "worker \"" + hello.name + "\" is connected with " +
                                 std::to_string(hello.slots) + " " + hello.slot_kind + " slots, holding " +
                                 std::to_string(hello.held.size()) + " attempts");
}

void WorkerSessions::take(const net::Peer& peer, WorkerId worker, const proto::FromWorker& message) {
  const auto report_refusal = [this, worker, &message](const engine::Result<Runtime::Outcome>& done) {
    if (!done) {
      net::log(net::Level::warning, std::string(proto::name_of(message)) + " of worker \"" + name_of(worker) +
                                        "\" is refused: " + done.error().message);
    }
  };
  if (const auto* started = std::get_if<proto::Started>(&message)) {
    launch_acknowledged(worker, started->key);
    report_refusal(runtime_.perform(engine::ConfirmStart{worker, started->key}));
  } else if (const auto* reports = std::get_if<proto::Reports>(&message)) {
    launch_acknowledged(worker, reports->key);
    const std::size_t taken = reports_of_a_step(*reports);
    const auto end = reports->reports.begin() + static_cast<std::ptrdiff_t>(taken);
    report_refusal(runtime_.perform(
        engine::TakeReports{worker, reports->key, reports->first_seq, {reports->reports.begin(), end}}));
    if (taken < reports->reports.size()) {
      send(worker, proto::Nack{reports->key, reports->first_seq + taken});  // The rest in turns of its own.
    }
  } else if (const auto* ack = std::get_if<proto::DecisionAck>(&message)) {
    counterparts_[worker].outbox.decision_acknowledged(ack->key, ack->decision);
  } else if (const auto* part = std::get_if<proto::LogPart>(&message)) {
    log_requests_.take(worker, *part);
  } else if (const auto* not_kept = std::get_if<proto::LogNotKept>(&message)) {
    if (settings_.on_log_not_kept) {
      settings_.on_log_not_kept(worker, *not_kept);
    }
  } else if (const auto* goodbye = std::get_if<proto::Goodbye>(&message)) {
    net::log(net::Level::info, "worker \"" + name_of(worker) + "\" left: " + goodbye->why);
    end_session(peer);
    report_refusal(runtime_.perform(engine::LoseWorker{worker, goodbye->why}));
  }
}

void WorkerSessions::take_beat(WorkerId worker, const proto::Beat& beat) {
  runtime_.set_draining(worker, beat.draining);
  Counterpart& counterpart = counterparts_[worker];
  counterpart.progress.clear();
  for (const proto::Progress& progress : beat.progress) {
    const auto silent = Duration::millis(
        static_cast<std::int64_t>(std::min<std::uint64_t>(progress.silent_ms, longest_silence_ms)));
    counterpart.progress[progress.key] =
        Heard{progress.step, engine::Instant::from_micros(runtime_.now().micros() - silent.in_micros())};
  }
  const auto& known = runtime_.engine().workers().at(worker).leaked_processes;
  const bool same = beat.leaked_processes.size() == known.size() &&
                    std::all_of(beat.leaked_processes.begin(), beat.leaked_processes.end(),
                                [&known](const engine::LeakedProcesses& leaked_processes) {
                                  return known.contains(leaked_processes.key);
                                });
  if (!same) {
    static_cast<void>(runtime_.perform(engine::NoteLeakedProcesses{worker, beat.leaked_processes}));
  }
  const auto& withdrawn = runtime_.engine().workers().at(worker).withdrawn;
  const bool no_news = beat.troubles.size() == withdrawn.size() &&
                       std::all_of(beat.troubles.begin(), beat.troubles.end(),
                                   [&withdrawn](const engine::SlotTrouble& trouble) {
                                     return withdrawn.contains(trouble.slot);
                                   });
  if (!no_news) {
    static_cast<void>(runtime_.perform(engine::NoteTroubles{worker, beat.troubles}));
  }
}

void WorkerSessions::end_session(const net::Peer& peer) {
  const auto found = sessions_.find(peer);
  if (found == sessions_.end()) {
    return;
  }
  const Session session = found->second;
  sessions_.erase(found);
  const auto counterpart = counterparts_.find(session.worker);
  if (counterpart != counterparts_.end() && counterpart->second.peer == peer) {
    runtime_.disconnected(session.worker);
    counterpart->second.peer.clear();
    counterpart->second.welcomed = false;
    counterpart->second.outbox.clear();
  }
}

std::optional<WorkerId> WorkerSessions::worker_of_http_key(std::string_view key) const {
  const std::string hash = hash_of(key);
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&hash](const auto& session) {
    return !session.second.superseded && equal_hashes(session.second.http_key_hash, hash);
  });
  return found == sessions_.end() ? std::nullopt : std::optional(found->second.worker);
}

void WorkerSessions::end_unstarted(engine::WorkerId worker, const engine::AttemptKey& key,
                                   const std::string& why) {
  net::log(net::Level::error, engine::label_of(key) + " cannot be started: " + why);
  engine::ExitReport exit;
  exit.cause = engine::ExitReport::Cause::could_not_start;
  exit.message = why;
  static_cast<void>(runtime_.perform(engine::TakeReports{worker, key, 1, {std::move(exit)}}));
}

// --- to workers ---

void WorkerSessions::carry_out(const engine::Order& order) {
  if (const auto* welcome = std::get_if<engine::WelcomeWorker>(&order)) {
    const auto found = counterparts_.find(welcome->worker);
    if (found == counterparts_.end() || --found->second.welcomes_due > 0 || found->second.peer.empty()) {
      return;  // It has said HELLO again meanwhile, and the later answer counts; or it is gone.
    }
    found->second.welcomed = true;
    found->second.in_doubt = welcome->in_doubt;
    for (const auto& attempt : welcome->attempts) {
      const auto held = found->second.held.find(attempt.key);
      if (attempt.fate == engine::WelcomeWorker::Fate::hold && held != found->second.held.end()) {
        found->second.on_hold.insert(*held);
      }
    }
    if (!found->second.on_hold.empty()) {
      net::log(net::Level::warning,
               "worker \"" + name_of(welcome->worker) + "\" has " +
                   std::to_string(found->second.on_hold.size()) +
                   " attempts that are not in this store; they continue until you run hpsearch adopt "
                   "or hpsearch disown");
    }
    const std::string http_key = settings_.new_http_key ? settings_.new_http_key() : "";
    if (const auto session = sessions_.find(found->second.peer); session != sessions_.end()) {
      session->second.http_key_hash = http_key.empty() ? "" : hash_of(http_key);
    }
    send(welcome->worker, proto::Welcome{welcome->worker, beat_every_ms(), welcome->attempts, http_,
                                         found->second.hello, credit(), http_key});
  } else if (const auto* launch = std::get_if<engine::LaunchAttempt>(&order)) {
    engine::Result<jobs::LaunchSpec> put_together = programs_.launch_spec(runtime_.engine(), launch->spec);
    if (!put_together) {
      end_unstarted(launch->worker, launch->spec.key, put_together.error().message);
      return;
    }
    jobs::LaunchSpec& spec = *put_together;
    set_places(spec);
    if (send(launch->worker, proto::Lease{spec})) {
      counterparts_[launch->worker].outbox.told(std::move(spec), runtime_.now());
    }
  } else if (const auto* decide = std::get_if<engine::DecideAttempt>(&order)) {
    if (send(decide->worker, proto::Decide{decide->key, decide->decision})) {
      counterparts_[decide->worker].outbox.told(decide->key, decide->decision, runtime_.now());
    }
  } else if (const auto* ack = std::get_if<engine::AckReports>(&order)) {
    send(ack->worker, proto::Ack{ack->key, ack->upto, credit()});
  } else if (const auto* resend = std::get_if<engine::ResendReports>(&order)) {
    send(resend->worker, proto::Nack{resend->key, resend->expect});
  } else if (const auto* fence = std::get_if<engine::FenceAttempt>(&order)) {
    late_reports_ += fence->late_reports;
    if (const auto found = counterparts_.find(fence->worker); found != counterparts_.end()) {
      found->second.on_hold.erase(fence->key);
    }
    send(fence->worker, proto::Fenced{fence->key});
  } else if (const auto* hold = std::get_if<engine::HoldAttempt>(&order)) {
    send(hold->worker, proto::Hold{hold->key});
  } else if (const auto* greet_again = std::get_if<engine::GreetAgain>(&order)) {
    const auto found = counterparts_.find(greet_again->worker);
    if (found != counterparts_.end() && !found->second.peer.empty()) {
      const net::Peer peer = found->second.peer;
      end_session(peer);
      send_to(peer, 0, 0, proto::Resync{});
    }
  }
}

std::vector<engine::HeldAttempt> WorkerSessions::on_hold(WorkerId worker) const {
  std::vector<engine::HeldAttempt> all;
  const auto found = counterparts_.find(worker);
  if (found != counterparts_.end()) {
    for (const auto& [key, held] : found->second.on_hold) {
      all.push_back(held);
    }
  }
  return all;
}

std::optional<WorkerSessions::Heard> WorkerSessions::last_activity_of(WorkerId worker,
                                                                      const engine::AttemptKey& key) const {
  const auto found = counterparts_.find(worker);
  if (found == counterparts_.end()) {
    return std::nullopt;
  }
  const auto heard = found->second.progress.find(key);
  return heard == found->second.progress.end() ? std::nullopt : std::optional(heard->second);
}

std::string WorkerSessions::kills_by(WorkerId worker) const {
  const auto found = counterparts_.find(worker);
  return found == counterparts_.end() ? "" : found->second.kills_by;
}

bool WorkerSessions::connected(WorkerId worker) const {
  const auto found = counterparts_.find(worker);
  return found != counterparts_.end() && !found->second.peer.empty();
}

void WorkerSessions::refuse(const net::Peer& peer, const std::string& why, std::uint64_t incarnation) {
  net::log(net::Level::warning, "rejected a worker: " + why);
  send_to(peer, 0, 0, proto::Refused{why, incarnation});
}

/// False when it could not be sent; the session is over then, and the next one repeats what is outstanding.
bool WorkerSessions::send(WorkerId worker, const proto::FromDaemon& message) {
  const auto found = counterparts_.find(worker);
  if (found == counterparts_.end() || !found->second.welcomed) {
    return false;
  }
  const net::Peer peer = found->second.peer;
  Session& session = sessions_.at(peer);
  if (send_to(peer, session.epoch, ++session.sent, message)) {
    return true;
  }
  net::log(net::Level::warning,
           "the connection to worker \"" + name_of(worker) + "\" is gone or takes nothing");
  end_session(peer);
  return false;
}

bool WorkerSessions::send_to(const net::Peer& peer, std::uint64_t session_epoch, std::uint64_t number,
                             const proto::FromDaemon& message) {
  const proto::Envelope envelope{runtime_.cluster(), runtime_.daemon_epoch(), session_epoch, number};
  const proto::Bytes frame = proto::encode(envelope, message);
  if (frame.size() > proto::max_frame_bytes) {
    net::log(net::Level::error, std::string(proto::name_of(message)) + " of " + std::to_string(frame.size()) +
                                    " bytes is too large for a worker and was not sent");
    return true;  // The session is not to blame.
  }
  return port_->send(peer, frame);
}

void WorkerSessions::launch_acknowledged(WorkerId worker, const engine::AttemptKey& key) {
  const auto found = counterparts_.find(worker);
  if (found != counterparts_.end()) {
    found->second.outbox.lease_acknowledged(key);
  }
}

// --- logs ---

void WorkerSessions::read_log(const LogQuestion& question, LogAnswer answer) {
  const std::string away = "worker \"" + name_of(question.worker) + "\", which has this log, is away";
  const std::optional<std::uint64_t> request = stopped_ ? std::nullopt : log_requests_.next_number();
  if (!request) {
    answer(
        Error{Errc::unavailable, stopped_ ? "the daemon is shutting down" : "too many logs are being read"});
    return;
  }
  if (log_requests_.is_silent(question.worker) ||
      !send(question.worker, proto::ReadLog{*request, question.key, question.stream, question.offset,
                                            question.limit, question.from_end, question.process})) {
    answer(Error{Errc::unavailable, away});
    return;
  }
  log_requests_.add(*request, question.worker, std::move(answer), runtime_.now());
}

// --- time ---

void WorkerSessions::tick() {
  const engine::Instant now = runtime_.now();
  end_what_is_not_allowed();
  std::vector<WorkerId> workers;
  for (const auto& [worker, counterpart] : counterparts_) {
    if (counterpart.welcomed && !counterpart.outbox.empty()) {
      workers.push_back(worker);
    }
  }
  for (const WorkerId worker : workers) {
    for (const proto::FromDaemon& message : counterparts_[worker].outbox.due(
             worker, runtime_.engine(), runtime_.store_counters().durable, now, settings_.repeat_after)) {
      if (!send(worker, message)) {
        break;  // The session has ended; its successor's WELCOME says what is outstanding.
      }
    }
  }
  end_sessions_of_the_lost();
  std::erase_if(sessions_, [now](const auto& entry) {
    return entry.second.superseded && now - entry.second.superseded_at > superseded_for;
  });
  log_requests_.expire(now, [this](WorkerId worker) { return name_of(worker); });
}

/// They said nothing for so long that nothing of them counts any more. Who speaks after all is asked to
/// introduce itself.
void WorkerSessions::end_sessions_of_the_lost() {
  const auto& workers = runtime_.engine().workers();
  std::vector<net::Peer> lost;
  for (const auto& [peer, session] : sessions_) {
    const auto worker = workers.find(session.worker);
    if (!session.superseded && (worker == workers.end() || !worker->second.present)) {
      lost.push_back(peer);
    }
  }
  for (const net::Peer& peer : lost) {
    end_session(peer);
  }
}

std::string WorkerSessions::name_of(WorkerId worker) const {
  const auto found = runtime_.engine().workers().find(worker);
  return found == runtime_.engine().workers().end() ? std::to_string(worker.number()) : found->second.name;
}

/// A beat also finds out about a restart of ours: the shorter, the sooner everybody is back. All workers
/// together send at most a thousand a second.
std::uint64_t WorkerSessions::beat_every_ms() const {
  return std::clamp<std::uint64_t>(sessions_.size(), 1'000, 10'000);
}

/// Each grant says how it is now: one that is lost or late is made good by the next.
std::uint64_t WorkerSessions::credit() const {
  const Intake intake = runtime_.storage().intake;
  Load load;
  load.sessions = sessions_.size();
  load.unstored = runtime_.engine().last_lsn().number() - runtime_.store_counters().durable.number();
  load.takes_reports = intake == Intake::everything || intake == Intake::no_experiments;
  return report_credit(load, settings_.credit);
}

/// Other stores number their experiments too, and may be given the same places: below those that users name,
/// each store has a directory of its own.
void WorkerSessions::set_places(jobs::LaunchSpec& spec) const {
  const std::string own = "/" + std::to_string(runtime_.cluster());
  if (spec.checkpoint_root.empty()) {
    spec.checkpoint_root = settings_.checkpoint_root;
  } else if (spec.checkpoint_root.front() == '/' || jobs::is_remote(spec.checkpoint_root)) {
    spec.checkpoint_root += own;
  } else {
    spec.checkpoint_root = settings_.checkpoint_root + "/" + spec.checkpoint_root;
  }
  for (jobs::Channel& output : spec.contract.outputs) {
    if (!output.path.empty()) {
      output.path += own;
    }
  }
}

}  // namespace hpsearch::daemon
