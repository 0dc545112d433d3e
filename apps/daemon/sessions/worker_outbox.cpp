#include "daemon/sessions/worker_outbox.hpp"

#include <utility>

namespace hpsearch::daemon {

const engine::LiveAttempt* live_attempt(const engine::Engine& engine, const engine::AttemptKey& key) {
  const engine::TrialRecord* trial = engine.find(key.experiment, key.trial);
  return trial != nullptr && trial->live && trial->live->key == key ? &*trial->live : nullptr;
}

void WorkerOutbox::clear() {
  leases_.clear();
  decisions_.clear();
}

void WorkerOutbox::sent(jobs::LaunchSpec lease, engine::Instant now) {
  const engine::AttemptKey key = lease.key;
  leases_[key] = Lease{std::move(lease), now};
}

void WorkerOutbox::sent(const engine::AttemptKey& key, const engine::Decision& decision,
                        engine::Instant now) {
  decisions_[key] = SentDecision{decision, now};
}

void WorkerOutbox::decision_acknowledged(const engine::AttemptKey& key, engine::Lsn decision) {
  const auto found = decisions_.find(key);
  // A worker without the lease assumes that the decision is about an ended attempt, and the lease may still
  // arrive.
  if (!leases_.contains(key) && found != decisions_.end() && found->second.decision.id <= decision) {
    decisions_.erase(found);
  }
}

std::vector<proto::FromDaemon> WorkerOutbox::due(engine::WorkerId worker, const engine::Engine& engine,
                                                 engine::Lsn durable, engine::Instant now,
                                                 engine::Duration repeat_after) {
  const auto part_here = [&](const engine::AttemptKey& key) {
    const engine::LiveAttempt* attempt = live_attempt(engine, key);
    return attempt == nullptr ? std::nullopt : attempt->part_on(worker);
  };
  std::erase_if(leases_, [&](const auto& entry) {
    const std::optional<engine::AttemptPart> part = part_here(entry.first);
    return !part || part->started;
  });
  std::erase_if(decisions_, [&](const auto& entry) {
    const engine::LiveAttempt* attempt = live_attempt(engine, entry.first);
    return !part_here(entry.first) || !attempt->decision || attempt->decision->id != entry.second.decision.id;
  });
  std::vector<proto::FromDaemon> messages;
  for (auto& [key, lease] : leases_) {
    if (now - lease.sent_at < repeat_after) {
      continue;
    }
    lease.sent_at = now;
    messages.emplace_back(proto::Lease{lease.spec});
    // A worker that did not have the lease has acknowledged decisions about it; now the attempt would begin.
    const engine::LiveAttempt* attempt = live_attempt(engine, key);
    if (attempt->is_ending() && attempt->decision->id.number() <= engine.numbering().of(durable)) {
      decisions_[key] = SentDecision{*attempt->decision, now};
      messages.emplace_back(proto::Decide{key, *attempt->decision});
    }
  }
  for (auto& [key, sent] : decisions_) {
    if (now - sent.sent_at >= repeat_after) {
      sent.sent_at = now;
      messages.emplace_back(proto::Decide{key, sent.decision});
    }
  }
  return messages;
}

}  // namespace hpsearch::daemon
