// WorkerMachine: its session with the daemon, and which daemon it accepts.

#include <algorithm>
#include <utility>
#include <variant>

#include "hpsearch/workers/core/worker_machine.hpp"

namespace hpsearch::workers {

using engine::Duration;
using engine::Instant;

namespace {

// A session that ends sooner didn't work, so the waits keep growing.
constexpr Duration settled_session = Duration::seconds(2);
constexpr std::uint64_t longest_retry_after_ms = 60'000;
constexpr Duration shortest_beat = Duration::millis(50);
// A beat stays far below the maximum size of a frame.
constexpr std::size_t most_in_a_beat = 512;

}  // namespace

void WorkerMachine::on_event(const FrameReceived& received, Instant now) {
  const proto::Envelope& envelope = received.frame.envelope;
  if (session_ == Session::refused) {
    return;
  }
  if (stale(envelope)) {
    notice_stale(envelope);
    return;
  }
  std::visit(
      [&](const auto& message) {
        using Message = std::decay_t<decltype(message)>;
        if constexpr (std::is_same_v<Message, proto::Welcome> || std::is_same_v<Message, proto::Refused> ||
                      std::is_same_v<Message, proto::RetryAfter>) {
          on_message(message, envelope, now);
        } else if constexpr (std::is_same_v<Message, proto::Joined>) {
          return;  // It answers a JOIN, which a worker sends before it starts.
        } else if (session_ == Session::ready && envelope.cluster == known_.cluster &&
                   envelope.session_epoch >= session_epoch_) {
          on_message(message, now);
        } else if constexpr (std::is_same_v<Message, proto::Resync>) {
          // A daemon without the session can't have its number.
          if (session_ == Session::ready) {
            on_message(message, now);
          }
        }
      },
      received.frame.message);
}

void WorkerMachine::on_event(const SendRefused& /*refused*/, Instant now) {
  if (session_ == Session::ready) {
    lose_session(now);
  } else if (session_ == Session::hello) {
    hello_sent_ = false;
    hello_at_ = now + backoff_.next();
  }
}

/// A session lasts as long as its connection. A new connection gets a HELLO at once: waiting for the next
/// try would prolong the outage.
void WorkerMachine::on_event(const ConnectionMade& made, Instant now) {
  if (session_ == Session::ready && made.again) {
    leave_session(now);
  }
  if (session_ == Session::hello && !hello_sent_) {
    send_hello(now);
  }
}

// --- the daemon's identity ---

bool WorkerMachine::stale(const proto::Envelope& envelope) const noexcept {
  return envelope.cluster == known_.cluster && envelope.daemon_epoch < known_.epoch;
}

/// Also true for late frames of a daemon that was restarted; without a session it is a daemon with an old
/// copy.
void WorkerMachine::notice_stale(const proto::Envelope& envelope) {
  names_known_ = true;  // The daemon can then log the reason.
  if (session_ == Session::ready || std::exchange(noticed_stale_, true)) {
    return;
  }
  notice(
      Notice::Level::warning,
      "ignored an older daemon of this store: start " + std::to_string(envelope.daemon_epoch) +
          ", the last known start is " + std::to_string(known_.epoch) +
          ". If the daemon runs on an old copy of its state directory, create the copy with hpsearch store "
          "restore");
}

/// Another store answers at the daemon's address. It is followed only if no attempt of the old store runs
/// here.
bool WorkerMachine::listens_to(const proto::Envelope& envelope, Instant now) {
  if (known_.cluster == 0 || envelope.cluster == known_.cluster) {
    return true;
  }
  if (std::all_of(attempts_.begin(), attempts_.end(),
                  [](const auto& entry) { return entry.second.only_log_left(); })) {
    AttemptOutput out;
    for (auto& [key, attempt] : attempts_) {
      attempt.give_up_log("a daemon with another store has taken its daemon's place", out);
    }
    carry_out(std::move(out));
    attempts_.clear();
    known_ = {};
    session_epoch_ = 0;
    done_.clear();
    adopted_.clear();
    return true;
  }
  if (!std::exchange(noticed_foreign_, true)) {
    notice(Notice::Level::error,
           "another daemon, with another store, answers at this address, but attempts of the first one are "
           "still "
           "held here; bring the first one back, or end this worker and remove its state directory to give "
           "them up");
  }
  say_hello_later(now);
  hello_sent_ = true;
  return false;
}

void WorkerMachine::say_hello_later(Instant now) {
  hello_at_ = now + backoff_.about(rules_.longest_retry);
}

// --- messages about the session ---

void WorkerMachine::on_message(const proto::Welcome& welcome, const proto::Envelope& envelope, Instant now) {
  if (!listens_to(envelope, now)) {
    return;
  }
  const KnownDaemon speaker{envelope.cluster, envelope.daemon_epoch};
  if (speaker == known_ && envelope.session_epoch <= session_epoch_) {
    return;  // Late or repeated, and perhaps from an earlier session: it lacks what happened
             // since.
  }
  if (welcome.hello != 0 && welcome.hello <= void_hellos_) {
    // A WELCOME from before the current session came again, and ended it. The daemon doesn't know leases
    // that came later.
    if (session_ == Session::ready) {
      lose_session(now);
    }
    return;
  }
  void_hellos_ = hellos_;
  if (known_ != speaker) {
    known_ = speaker;
    effects_.emplace_back(RememberDaemon{known_});
  }
  names_known_ = true;
  noticed_foreign_ = noticed_stale_ = false;
  refused_because_.clear();
  session_epoch_ = envelope.session_epoch;
  session_ = Session::ready;
  ready_since_ = now;
  orphans_ended_ = false;
  hello_at_.reset();
  hello_sent_ = false;
  beat_every_ = std::max(
      shortest_beat,
      Duration::millis(static_cast<std::int64_t>(std::min<std::uint64_t>(welcome.beat_every_ms, 3'600'000))));
  beat_at_ = draining_ || identity_.shared ? now : now + backoff_.about(beat_every_);
  take_credit(welcome.credit);
  effects_.emplace_back(ContextsServed{welcome.http, welcome.http_key});
  checkpoint_root_ = welcome.checkpoint_root;
  check_checkpoints_at_.reset();
  if (!checkpoint_root_.empty()) {
    effects_.emplace_back(CheckCheckpointRoot{checkpoint_root_, known_.cluster});
  }
  notice(Notice::Level::info, "in session as worker " + std::to_string(welcome.worker.number()));

  AttemptOutput out;
  for (auto& [key, attempt] : attempts_) {
    attempt.hold();  // Held unless the daemon names it: nothing is ended because of missing knowledge.
  }
  for (const engine::WelcomeWorker::Attempt& said : welcome.attempts) {
    AttemptMachine* attempt = find(said.key);
    if (attempt == nullptr) {
      continue;
    }
    switch (said.fate) {
      case engine::WelcomeWorker::Fate::go_on:
        if (said.lease != engine::LeaseId{}) {
          adopted_[attempt->key()] = said.lease;
        }
        attempt->go_on(said.upto, out);
        break;
      case engine::WelcomeWorker::Fate::fenced:
        attempt->fenced(out);
        break;
      case engine::WelcomeWorker::Fate::hold:
        break;
    }
  }
  carry_out(std::move(out));
}

void WorkerMachine::on_message(const proto::Resync& /*resync*/, Instant now) {
  lose_session(now);
}

void WorkerMachine::on_message(const proto::RetryAfter& retry, const proto::Envelope& envelope, Instant now) {
  const auto wait = Duration::millis(
      static_cast<std::int64_t>(std::min<std::uint64_t>(retry.after_ms, longest_retry_after_ms)));
  if (session_ == Session::hello) {
    hello_sent_ = false;  // The daemon answers, so the connection works.
    hello_at_ = now + backoff_.within(wait);
  } else if (session_ == Session::ready && envelope.cluster == known_.cluster &&
             envelope.session_epoch == session_epoch_) {
    // It receives the reports and can't store them now: this is neither silence nor an acknowledgement.
    for (auto& [key, attempt] : attempts_) {
      attempt.asked_to_wait(now + backoff_.about(wait));
    }
  }
}

/// Final for a worker without attempts. A worker with attempts ignores the refusal of another store,
/// or one that answers its HELLO: the daemon may be the wrong one, or another release, for a while. Only if
/// another worker has replaced it, it ends after its programs.
void WorkerMachine::on_message(const proto::Refused& refused, const proto::Envelope& envelope, Instant now) {
  if (refused.incarnation != 0 && refused.incarnation != identity_.incarnation) {
    return;  // Another start of this agent is meant.
  }
  const bool foreign = known_.cluster != 0 && envelope.cluster != known_.cluster;
  const bool goes_on = !attempts_.empty() && (foreign || refused.incarnation == identity_.incarnation);
  alone_since_ = session_ == Session::ready ? now : alone_since_;
  session_ = goes_on ? Session::hello : Session::refused;
  hello_at_.reset();
  beat_at_.reset();
  for (auto& [key, attempt] : attempts_) {
    attempt.session_lost();
  }
  const bool again = std::exchange(refused_because_, refused.why) == refused.why;
  if (goes_on) {
    hello_sent_ = false;  // The daemon answers, so the connection works.
    say_hello_later(now);
  }
  if (!goes_on || !again) {
    notice(Notice::Level::error,
           "the daemon rejects this worker: " + refused.why +
               (goes_on ? "; attempts run here, so the worker retries until it is accepted" : ""));
  }
}

// --- messages to the daemon ---

void WorkerMachine::leave_session(Instant now) {
  alone_since_ = session_ == Session::ready ? now : alone_since_;
  session_ = Session::hello;
  beat_at_.reset();
  hello_sent_ = false;
  if (now - ready_since_ >= settled_session) {
    backoff_.reset();
  }
  for (auto& [key, attempt] : attempts_) {
    attempt.session_lost();
  }
}

void WorkerMachine::lose_session(Instant now) {
  leave_session(now);
  effects_.emplace_back(NewConnection{});
  hello_at_ = now + backoff_.next();
}

void WorkerMachine::send_hello(Instant now) {
  proto::Hello hello;
  hello.uid = identity_.uid;
  hello.name = identity_.name;
  hello.incarnation = identity_.incarnation;
  hello.boot_id = identity_.boot_id;
  hello.pid = identity_.pid;
  hello.slots = identity_.slots;
  hello.slot_kind = identity_.slot_kind;
  hello.kills_by = identity_.kills_by;
  hello.devices = identity_.devices;
  hello.pool = identity_.pool;
  hello.labels = identity_.labels;
  hello.troubles = troubles();
  hello.address = identity_.address;
  hello.nonce = identity_.nonce;
  hello.max_unslotted = identity_.max_unslotted;
  hello.allocation = identity_.allocation;
  hello.time_left = time_left(now);
  hello.shared = shared_slots();
  hello.host = identity_.host;
  hello.version = identity_.version;
  for (const auto& [key, attempt] : attempts_) {
    // A fenced attempt is being ended: the daemon must not count it as running.
    const bool over = attempt.only_log_left();
    if ((!attempt.is_fenced() && !over) || attempt.reports_leaked_processes()) {
      hello.held.push_back(attempt.held());
      hello.held.back().held_for = attempt.held_for(now);
    }
  }
  msg_no_ = 0;
  proto::Envelope envelope;
  envelope.msg_no = ++hellos_;
  if (names_known_) {
    envelope.cluster = known_.cluster;
    envelope.daemon_epoch = known_.epoch;
  }
  effects_.emplace_back(SendMessage{envelope, std::move(hello)});
  hello_sent_ = true;
  hello_at_ = now + backoff_.about(rules_.welcome_within);
}

void WorkerMachine::send_beat(Instant now) {
  proto::Beat beat;
  beat.draining = draining_;
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.runs() && beat.progress.size() < most_in_a_beat) {
      const std::int64_t silent =
          std::max<std::int64_t>(0, (now - attempt.silent_since()).in_micros() / 1'000);
      const auto measured = measured_.find(key);
      beat.progress.push_back(
          {.key = current_key(key),
           .step = attempt.last_step(),
           .silent_ms = static_cast<std::uint64_t>(silent),
           .utilization = measured == measured_.end() ? std::nullopt : std::optional(measured->second)});
    }
    if (attempt.reports_leaked_processes()) {
      beat.leaked_processes.push_back({key, attempt.spec().slots});
    }
  }
  beat.troubles = troubles();
  beat.checkpoint_problem = checkpoint_problem_;
  beat.time_left = time_left(now);
  beat.shared = shared_slots();
  send(std::move(beat));
}

void WorkerMachine::send(proto::FromWorker message) {
  if (session_ != Session::ready) {
    return;
  }
  const proto::Envelope envelope{.cluster = known_.cluster,
                                 .daemon_epoch = known_.epoch,
                                 .session_epoch = session_epoch_,
                                 .msg_no = ++msg_no_};
  const auto rename = [this](auto& said) {
    // Logs are named by the lease under which the attempt was started.
    constexpr bool about_a_log = std::is_same_v<std::decay_t<decltype(said)>, proto::LogNotKept>;
    if constexpr (!about_a_log && requires { said.key; }) {
      said.key = current_key(said.key);
    }
  };
  std::visit(rename, message);
  effects_.emplace_back(SendMessage{envelope, std::move(message)});
}

}  // namespace hpsearch::workers
