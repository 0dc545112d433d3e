// The part of WorkerSessions that sends orders to workers.

#include <algorithm>
#include <utility>

#include "daemon/access/token.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"

namespace hpsearch::daemon {

using engine::WorkerId;

void WorkerSessions::end_unstarted(engine::WorkerId worker, const engine::AttemptKey& key,
                                   const std::string& why) {
  net::log(net::Level::error, engine::label_of(key) + " cannot be started: " + why, net::about(key));
  engine::ExitReport exit;
  exit.cause = engine::ExitReport::Cause::could_not_start;
  exit.message = why;
  static_cast<void>(runtime_.perform(engine::TakeReports{worker, key, 1, {std::move(exit)}}));
}

void WorkerSessions::carry_out(const engine::Order& order) {
  if (const auto* welcome = std::get_if<engine::WelcomeWorker>(&order)) {
    const auto found = counterparts_.find(welcome->worker);
    if (found == counterparts_.end() || --found->second.welcomes_due > 0 || found->second.peer.empty()) {
      return;  // It has sent another HELLO meanwhile, whose answer counts; or it has disconnected.
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
                   "or hpsearch disown",
               net::about_worker(name_of(welcome->worker)));
    }
    const std::string http_key = settings_.new_http_key ? settings_.new_http_key() : "";
    if (const auto session = sessions_.find(found->second.peer); session != sessions_.end()) {
      session->second.http_key_hash = http_key.empty() ? "" : hash_of(http_key);
    }
    send(welcome->worker, proto::Welcome{welcome->worker, beat_every_ms(), welcome->attempts, http_,
                                         found->second.hello, credit(), http_key, settings_.checkpoint_root});
  } else if (const auto* launch = std::get_if<engine::LaunchAttempt>(&order)) {
    engine::Result<jobs::LaunchSpec> put_together = programs_.launch_spec(runtime_.engine(), launch->spec);
    if (!put_together) {
      end_unstarted(launch->worker, launch->spec.key, put_together.error().message);
      return;
    }
    jobs::LaunchSpec& spec = *put_together;
    set_places(spec);
    if (send(launch->worker, proto::Lease{spec})) {
      counterparts_[launch->worker].outbox.sent(std::move(spec), runtime_.now());
    }
  } else if (const auto* decide = std::get_if<engine::DecideAttempt>(&order)) {
    if (send(decide->worker, proto::Decide{decide->key, decide->decision})) {
      counterparts_[decide->worker].outbox.sent(decide->key, decide->decision, runtime_.now());
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

/// False if it could not be sent; then the session has ended, and the next one repeats what is outstanding.
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
           "the connection to worker \"" + name_of(worker) + "\" was lost or accepts nothing",
           net::about_worker(name_of(worker)));
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
    return true;  // The session continues.
  }
  const bool sent = port_->send(peer, frame);
  if (sent) {
    ++counts_.sent[proto::name_of(message)];
    counts_.bytes_sent += frame.size();
  }
  return sent;
}

/// A beat also detects a restart of the daemon: the shorter, the sooner all workers are back. All workers
/// together send at most a thousand beats a second.
std::uint64_t WorkerSessions::beat_every_ms() const {
  return std::clamp<std::uint64_t>(sessions_.size(), 1'000, 10'000);
}

/// Each credit replaces the one before: one that is lost or late is corrected by the next.
std::uint64_t WorkerSessions::credit() const {
  const Intake intake = runtime_.storage().intake;
  Load load;
  load.sessions = sessions_.size();
  load.unstored = runtime_.engine().last_lsn().number() - runtime_.store_counters().durable.number();
  load.takes_reports = intake == Intake::everything || intake == Intake::no_experiments;
  return report_credit(load, settings_.credit);
}

/// Other stores number their experiments too, and may use the same storage: below a storage that users name,
/// each store has a directory of its own. Programs that store something elsewhere need the store's number
/// too.
void WorkerSessions::set_places(jobs::LaunchSpec& spec) const {
  const std::string own = "/" + std::to_string(runtime_.cluster());
  if (!spec.unix_user.empty()) {
    spec.default_storage = settings_.checkpoint_root;
  }
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
  spec.environment_variables["HPSEARCH_STORE"] = std::to_string(runtime_.cluster());
}

}  // namespace hpsearch::daemon
