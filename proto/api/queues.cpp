#include "hpsearch/proto/api/queues.hpp"

#include "hpsearch/engine/alloc/queue.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"

namespace hpsearch::api {

using sentences::Language;

namespace {

double seconds_of_instant(engine::Instant at) {
  return static_cast<double>(at.micros()) / 1e6;
}

std::optional<double> seconds_if_any(engine::Instant at) {
  return at == engine::Instant{} ? std::nullopt : std::optional(seconds_of_instant(at));
}

engine::Duration duration_of(double seconds) {
  constexpr double longest = 1e9;  // What is longer is refused by its bounds.
  return engine::Duration::micros(
      static_cast<std::int64_t>((seconds > 0 ? (seconds < longest ? seconds : longest) : 0) * 1e6));
}

std::optional<std::string> if_any(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

engine::QueueSettings settings_of(const QueueSettings& settings) {
  return {.backend = settings.backend,
          .arguments = settings.arguments,
          .time_limit = duration_of(settings.time_limit),
          .workers = settings.workers,
          .backlog = settings.backlog,
          .max_workers = settings.max_workers,
          .slots = settings.slots,
          .idle_timeout = duration_of(settings.idle_timeout),
          .give_back = duration_of(settings.give_back),
          .min_utilization = settings.min_utilization,
          .pool = settings.pool,
          .labels = settings.labels,
          .state_root = settings.state_root,
          .before = settings.before,
          .after = settings.after,
          .wrap = settings.wrap};
}

QueueSettings settings_of(const engine::QueueSettings& settings) {
  return {.backend = settings.backend,
          .arguments = settings.arguments,
          .time_limit = settings.time_limit.in_seconds(),
          .workers = settings.workers,
          .backlog = settings.backlog,
          .max_workers = settings.max_workers,
          .slots = settings.slots,
          .idle_timeout = settings.idle_timeout.in_seconds(),
          .give_back = settings.give_back.in_seconds(),
          .min_utilization = settings.min_utilization,
          .pool = settings.pool,
          .labels = settings.labels,
          .state_root = settings.state_root,
          .before = settings.before,
          .after = settings.after,
          .wrap = settings.wrap};
}

Allocation allocation_of(const engine::AllocationRecord& record, Language language) {
  Allocation allocation{.name = engine::text_of(record.name),
                        .state = std::string(engine::name_of(record.state)),
                        .workers = record.workers,
                        .joined = record.joined,
                        .job = if_any(record.job),
                        .canceling = if_any(sentences::stored_in(language, record.canceling)),
                        .wanted = seconds_of_instant(record.wanted_at),
                        .started = seconds_if_any(record.started_at),
                        .ended = seconds_if_any(record.ended_at)};
  if (!engine::is_live(record)) {
    allocation.end = std::string(engine::name_of(record.end));
    allocation.detail = sentences::stored_in(language, record.detail);
  }
  return allocation;
}

Queue queue_of(const engine::QueueRecord& record, Language language) {
  const engine::QueueLoad load = engine::load_of(record);
  Queue queue{.name = record.name,
              .state = std::string(engine::name_of(record.state)),
              .why = if_any(sentences::stored_in(language, record.why)),
              .creator = record.creator,
              .created = seconds_of_instant(record.created_at),
              .pending = load.pending,
              .running = load.running,
              .workers = load.workers,
              .joined = load.joined,
              .failures = record.failures,
              .last_failure = sentences::stored_in(language, record.last_failure),
              .rests_until = seconds_if_any(record.rests_until),
              .settings = settings_of(record.settings)};
  for (const auto& [number, allocation] : record.allocations) {
    queue.allocations.push_back(allocation_of(allocation, language));
  }
  return queue;
}

}  // namespace hpsearch::api
