#include "daemon/sessions/worker_sessions.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "daemon/access/token.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::WorkerId;

constexpr std::chrono::seconds tick_every{1};
constexpr std::size_t sessions_a_second = 1'000;  // Sessions checked per second.
// Frames in transit when a newer session began arrive within this time; after it the old connection is
// unknown, and gets that answer.
constexpr Duration superseded_for = Duration::seconds(60);
// A worker whose reports found no room sends them again after this.
constexpr std::uint64_t busy_ms = 4'000;
// How many reports of a frame one step of the engine takes; workers send at most this many. A checkpoint is
// compared with all checkpoints of its trial.
constexpr std::size_t most_reports = 512;
constexpr std::size_t most_checkpoints = 16;
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

// --- frames ---

void WorkerSessions::take_frame(const net::Peer& peer, std::span<const std::byte> frame) {
  if (stopped_) {
    return;
  }
  counts_.bytes_received += frame.size();
  if (settings_.is_invite && !sessions_.contains(peer) && settings_.is_invite(port_->sender_key())) {
    take_from_guest(peer, frame);
    return;
  }
  auto framed = proto::decode_from_worker(frame);
  if (!framed) {
    if (framed.error().code == Errc::version_mismatch) {
      refuse(peer, Refusal::version, framed.error().message, 0);
    }
    net::log(net::Level::debug, "dropped a worker's frame: " + framed.error().message);
    return;
  }
  ++counts_.received[proto::name_of(framed->message)];
  if (auto* hello = std::get_if<proto::Hello>(&framed->message)) {
    if (const auto retry_after = hello_limit_.retry_after_ms(runtime_.now())) {
      send_to(peer, 0, 0, proto::RetryAfter{*retry_after});
      return;
    }
    if (is_allowed(peer, *hello)) {
      greet(peer, framed->envelope, *hello);
    }
    hello_limit_.greeted(runtime_.now());
    return;
  }
  const auto found = sessions_.find(peer);
  if (found == sessions_.end()) {
    ask_for_hello(peer);
    return;
  }
  Session& session = found->second;
  if (session.superseded || framed->envelope.session_epoch != session.epoch) {
    return;
  }
  const auto worker = runtime_.engine().workers().find(session.worker);
  if (worker == runtime_.engine().workers().end() || !worker->second.present) {
    // It was lost while it was silent; it has to join again.
    end_session(peer);
    ask_for_hello(peer);
    return;
  }
  const WorkerId id = session.worker;
  runtime_.heard(id);
  log_requests_.heard(id);
  Counterpart& counterpart = counterparts_[id];
  note_heard(counterpart);
  if (!counterpart.in_doubt.empty()) {
    // It is the answer to the WELCOME of its HELLO: the worker does not have what was not named there.
    static_cast<void>(
        runtime_.perform(engine::DisclaimAttempts{id, std::exchange(counterpart.in_doubt, {})}));
  }
  const bool newest = framed->envelope.msg_no > session.newest;
  session.newest = std::max(session.newest, framed->envelope.msg_no);
  if (const auto* beat = std::get_if<proto::Beat>(&framed->message)) {
    if (newest) {  // A message that a newer one overtook is older than what is known.
      take_beat(id, *beat);
    }
    return;
  }
  if (const auto* reports = std::get_if<proto::Reports>(&framed->message);
      reports != nullptr && !has_room_for(*reports)) {
    // The report is not acknowledged, so it stays with the worker. The worker must learn that the daemon is
    // alive: otherwise it would try another connection.
    counts_.refused_reports += reports->reports.size();
    send(id, proto::RetryAfter{busy_ms});
    return;
  }
  take(peer, id, framed->message);
}

void WorkerSessions::ask_for_hello(const net::Peer& peer) {
  ++counts_.resyncs;
  send_to(peer, 0, 0, proto::Resync{});
}

void WorkerSessions::note_heard(Counterpart& counterpart) {
  const engine::Instant now = runtime_.now();
  if (counterpart.heard_at) {
    counts_.silence.add((now - *counterpart.heard_at).in_seconds());
  }
  counterpart.heard_at = now;
}

/// With little room left, only what makes room is accepted: reports of programs that were ordered to end,
/// with their exits.
bool WorkerSessions::has_room_for(const proto::Reports& reports) const {
  switch (runtime_.storage().intake) {
    case Intake::everything:
    case Intake::no_experiments:
      return true;
    case Intake::what_ends: {
      const engine::LiveAttempt* attempt = live_attempt(runtime_.engine(), reports.key);
      if (attempt == nullptr) {
        return true;  // Answered from memory, nothing of it is stored.
      }
      return attempt->is_ending();
    }
    case Intake::nothing:
      return false;
  }
  return true;
}

void WorkerSessions::take(const net::Peer& peer, WorkerId worker, const proto::FromWorker& message) {
  const auto report_refusal = [this, worker, &message](const engine::Result<Runtime::Outcome>& done) {
    if (!done) {
      net::log(net::Level::warning,
               std::string(proto::name_of(message)) + " of worker \"" + name_of(worker) +
                   "\" is refused: " + done.error().message,
               net::about_worker(name_of(worker)));
    }
  };
  if (const auto* started = std::get_if<proto::Started>(&message)) {
    launch_acknowledged(worker, started->key);
    report_refusal(runtime_.perform(engine::ConfirmStart{worker, started->key}));
  } else if (const auto* reports = std::get_if<proto::Reports>(&message)) {
    launch_acknowledged(worker, reports->key);
    const std::size_t taken = reports_of_a_step(*reports);
    const auto end = reports->reports.begin() + static_cast<std::ptrdiff_t>(taken);
    const auto done = runtime_.perform(
        engine::TakeReports{worker, reports->key, reports->first_seq, {reports->reports.begin(), end}});
    counts_.refused_reports += done ? 0 : taken;
    report_refusal(done);
    if (taken < reports->reports.size()) {
      // The rest is handled in turns of their own.
      send(worker, proto::Nack{reports->key, reports->first_seq + taken});
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
  if (const std::string before = std::exchange(counterpart.checkpoint_problem, beat.checkpoint_problem);
      before != beat.checkpoint_problem) {
    net::log(beat.checkpoint_problem.empty() ? net::Level::info : net::Level::warning,
             "worker \"" + name_of(worker) + "\" " +
                 (beat.checkpoint_problem.empty()
                      ? "can store checkpoints in " + settings_.checkpoint_root
                      : "cannot store checkpoints of experiments without checkpoint_storage: " +
                            beat.checkpoint_problem));
  }
  counterpart.progress.clear();
  for (const proto::Progress& progress : beat.progress) {
    const auto silent = Duration::millis(
        static_cast<std::int64_t>(std::min<std::uint64_t>(progress.silent_ms, longest_silence_ms)));
    counterpart.progress[progress.key] =
        Heard{progress.step, engine::Instant::from_micros(runtime_.now().micros() - silent.in_micros()),
              progress.utilization};
  }
  if (!engine::is_as_known(runtime_.engine().workers().at(worker).end, beat.time_left, runtime_.now())) {
    static_cast<void>(runtime_.perform(engine::NoteTimeLeft{worker, beat.time_left}));
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
  if (beat.shared) {
    take_shared(worker, *beat.shared);
  }
}

/// The step offers the slots that are free again. Its answer leaves after all orders of earlier steps: from
/// then on, the worker gets no lease for the slots that it named.
void WorkerSessions::take_shared(WorkerId worker, const proto::SharedSlots& shared) {
  Counterpart& counterpart = counterparts_[worker];
  if (std::exchange(counterpart.shared, shared.number) != shared.number) {
    runtime_.set_taken(runtime_.engine().workers().at(worker).uid, shared.taken);
  }
  const auto answer = [this, worker, number = shared.number,
                       peer = counterpart.peer](const engine::Result<Runtime::Outcome>& /*done*/) {
    const auto found = counterparts_.find(worker);
    if (!stopped_ && found != counterparts_.end() && found->second.welcomed && found->second.peer == peer) {
      send(worker, proto::Wanted{runtime_.engine().slots_wanted_of(worker), number});
    }
  };
  static_cast<void>(runtime_.perform(engine::CheckTimers{}, answer));
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

// --- state of workers ---

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

std::map<engine::AttemptKey, WorkerSessions::Heard> WorkerSessions::last_activity(WorkerId worker) const {
  const auto found = counterparts_.find(worker);
  return found == counterparts_.end() ? std::map<engine::AttemptKey, Heard>() : found->second.progress;
}

void WorkerSessions::for_each_utilization(WorkerId worker,
                                          const std::function<void(const proto::Utilization&)>& visit) const {
  const auto found = counterparts_.find(worker);
  if (found == counterparts_.end()) {
    return;
  }
  for (const auto& [key, heard] : found->second.progress) {
    if (heard.utilization) {
      visit(*heard.utilization);
    }
  }
}

WorkerSessions::About WorkerSessions::about(WorkerId worker) const {
  const auto found = counterparts_.find(worker);
  return found == counterparts_.end() ? About{} : found->second.about;
}

std::optional<engine::Instant> WorkerSessions::heard_at(WorkerId worker) const {
  const auto found = counterparts_.find(worker);
  return found == counterparts_.end() ? std::nullopt : found->second.heard_at;
}

std::string WorkerSessions::checkpoint_problem(WorkerId worker) const {
  const auto found = counterparts_.find(worker);
  return found == counterparts_.end() ? "" : found->second.checkpoint_problem;
}

bool WorkerSessions::connected(WorkerId worker) const {
  const auto found = counterparts_.find(worker);
  return found != counterparts_.end() && !found->second.peer.empty();
}

void WorkerSessions::launch_acknowledged(WorkerId worker, const engine::AttemptKey& key) {
  const auto found = counterparts_.find(worker);
  if (found != counterparts_.end()) {
    found->second.outbox.lease_acknowledged(key);
  }
}

// --- logs ---

void WorkerSessions::read_log(const LogQuestion& question, LogAnswer answer) {
  const auto record = runtime_.engine().workers().find(question.worker);
  if (record != runtime_.engine().workers().end() && engine::is_external(record->second)) {
    answer(Error{Errc::not_found,
                 "no worker ran this trial (workers: external); its output is where its program ran"});
    return;
  }
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
        break;  // The session has ended; the WELCOME of the next one names what is outstanding.
      }
    }
  }
  end_sessions_of_the_lost();
  std::erase_if(sessions_, [now](const auto& entry) {
    return entry.second.superseded && now - entry.second.superseded_at > superseded_for;
  });
  log_requests_.expire(now, [this](WorkerId worker) { return name_of(worker); });
}

/// They were silent for so long that they are lost. A message that comes after all is answered with a request
/// for a HELLO. At most some sessions per second are ended.
void WorkerSessions::end_sessions_of_the_lost() {
  const auto& workers = runtime_.engine().workers();
  std::vector<net::Peer> lost;
  const std::uint64_t shares = 1 + sessions_.size() / sessions_a_second;
  const std::uint64_t turn = static_cast<std::uint64_t>(runtime_.now().micros() / 1'000'000) % shares;
  for (const auto& [peer, session] : sessions_) {
    if (session.superseded || session.worker.number() % shares != turn) {
      continue;
    }
    const auto worker = workers.find(session.worker);
    if (worker == workers.end() || !worker->second.present) {
      lost.push_back(peer);
    }
  }
  for (const net::Peer& peer : lost) {
    end_session(peer);
  }
  if (counterparts_.size() > workers.size()) {
    std::erase_if(counterparts_, [&workers](const auto& entry) {
      return entry.second.welcomes_due == 0 && !workers.contains(entry.first);
    });
  }
}

std::string WorkerSessions::key_of(WorkerId worker) const {
  const auto counterpart = counterparts_.find(worker);
  const auto session =
      counterpart != counterparts_.end() ? sessions_.find(counterpart->second.peer) : sessions_.end();
  return session != sessions_.end() ? session->second.key : "";
}

std::string WorkerSessions::name_of(WorkerId worker) const {
  const auto found = runtime_.engine().workers().find(worker);
  return found == runtime_.engine().workers().end() ? std::to_string(worker.number()) : found->second.name;
}

}  // namespace hpsearch::daemon
