#include "daemon/sessions/external_leases.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::chrono::seconds check_every{1};
// If two checks are further apart than this, the daemon itself did not run: unread reports may be waiting.
constexpr engine::Duration longest_gap = engine::Duration::seconds(5);

}  // namespace

ExternalLeases::ExternalLeases(Runtime& runtime) : runtime_(runtime), last_check_(runtime.now()) {
  for (const auto& [id, worker] : runtime.engine().workers()) {
    if (!engine::is_external(worker)) {
      continue;
    }
    for (const engine::AttemptKey& key : worker.attempts) {
      hold(key, runtime.engine().find(key.experiment, key.trial)->live->external->lease_for, last_check_);
    }
  }
  events_ = runtime.watch_events([this](const engine::Event& event) { note(event); });
  clock_ = runtime.loop().every(check_every, [this] { check(); });
}

void ExternalLeases::hold(const engine::AttemptKey& key, engine::Duration lease_for, engine::Instant at) {
  held_[key.lease] = {key, lease_for, at};
  due_.emplace(at + lease_for, key.lease);
}

void ExternalLeases::note(const engine::Event& event) {
  if (const auto* granted = std::get_if<engine::LeaseGranted>(&event.body)) {
    if (granted->lease_for > engine::Duration{}) {
      hold({granted->experiment, granted->trial, granted->attempt,
            runtime_.engine().numbering().lease_of(event.lsn)},
           granted->lease_for, event.at);
    }
  } else if (const auto* lost = std::get_if<engine::AttemptLost>(&event.body)) {
    held_.erase(lost->key.lease);
  } else if (const auto* taken = std::get_if<engine::ReportTaken>(&event.body)) {
    if (const auto found = held_.find(taken->key.lease); found != held_.end()) {
      found->second.heard = event.at;
      if (std::holds_alternative<engine::ExitReport>(taken->report)) {
        held_.erase(found);
      }
    }
  }
}

void ExternalLeases::renew_all(engine::Instant now) {
  for (auto& [lease, held] : held_) {
    held.heard = now;
  }
}

void ExternalLeases::end_killed() {
  std::vector<engine::AttemptKey> killed;
  for (const auto& [lease, held] : held_) {
    const engine::TrialRecord* trial = runtime_.engine().find(held.key.experiment, held.key.trial);
    if (trial != nullptr && trial->live && trial->live->decision &&
        trial->live->decision->directive == engine::Directive::kill) {
      killed.push_back(held.key);
    }
  }
  for (const engine::AttemptKey& key : killed) {
    const auto& live = runtime_.engine().find(key.experiment, key.trial)->live;
    engine::ExitReport exit;
    exit.cause = engine::ExitReport::Cause::ended_by_agent;
    static_cast<void>(
        runtime_.perform(engine::TakeReports{live->worker, key, live->applied_seq + 1, {std::move(exit)}}));
  }
}

void ExternalLeases::check() {
  const engine::Instant now = runtime_.now();
  if (now - last_check_ > longest_gap) {
    renew_all(now);
  }
  last_check_ = now;
  if (runtime_.stalled()) {
    return;  // No lease could be renewed now.
  }
  engine::ExpireExternal over;
  while (!due_.empty() && due_.begin()->first <= now) {
    const engine::LeaseId lease = due_.begin()->second;
    due_.erase(due_.begin());
    const auto found = held_.find(lease);
    if (found == held_.end()) {
      continue;
    }
    if (const engine::Instant until = found->second.heard + found->second.lease_for; until > now) {
      due_.emplace(until, lease);
    } else {
      over.keys.push_back(found->second.key);
    }
  }
  if (!over.keys.empty()) {
    net::log(net::Level::warning,
             std::to_string(over.keys.size()) +
                 " leases of clients were not renewed in time; their trials count as lost");
    static_cast<void>(runtime_.perform(std::move(over)));
  }
  end_killed();
}

}  // namespace hpsearch::daemon
