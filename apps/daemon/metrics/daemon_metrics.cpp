#include "daemon/metrics/daemon_metrics.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/metrics/device_metrics.hpp"
#include "daemon/metrics/process_metrics.hpp"
#include "daemon/metrics/quota_metrics.hpp"
#include "daemon/metrics/search_metrics.hpp"
#include "daemon/metrics/worker_metrics.hpp"
#include "hpsearch/io/net/log.hpp"

#ifndef HPSEARCH_REVISION
#define HPSEARCH_REVISION ""
#endif

namespace hpsearch::daemon {
namespace {

using enum proto::MetricType;
using proto::PrometheusText;

#ifdef __clang__
constexpr std::string_view compiler = __VERSION__;
#else
constexpr std::string_view compiler = "GCC " __VERSION__;
#endif
constexpr std::array<std::string_view, 6> rooms{"ample", "low", "scarce", "exhausted", "full", "away"};

double as_number(std::uint64_t number) {
  return static_cast<double>(number);
}

/// A gauge without a sample if there is no value.
void add_seconds(PrometheusText& text, std::string_view name, std::string_view help,
                 const std::optional<engine::Duration>& value) {
  text.family(name, gauge, help);
  if (value) {
    text.sample(value->in_seconds());
  }
}

void add_store(PrometheusText& text, const MetricsSources& sources) {
  const Runtime* const runtime = sources.runtime;
  const Committer::Counters store = runtime == nullptr ? Committer::Counters{} : runtime->store_counters();
  text.family("store_commit_seconds", histogram, "Time of one commit of the store, its disk sync included.");
  text.sample(store.commit_seconds);
  text.family("store_commit_events", histogram, "Events per commit.");
  text.sample(store.commit_events);
  text.gauge("store_lsn", "Number of the engine's last event.",
             runtime == nullptr ? 0 : as_number(runtime->engine().last_lsn().number()));
  text.gauge("store_durable_lsn", "Number of the last event committed since the daemon started.",
             as_number(store.durable.number()));
  const Storage storage = runtime == nullptr ? Storage{} : runtime->storage();
  text.gauge("store_free_bytes", "Free bytes on the store's disk.", as_number(storage.free_bytes));
  const auto room = std::find(rooms.begin(), rooms.end(), storage.state);
  text.gauge(
      "store_state",
      "Room on the store's disk: 0 = ample, 1 = low, 2 = scarce (no new experiments), 3 = exhausted (no "
      "reports), 4 = full, 5 = the store's database is away.",
      static_cast<double>(room - rooms.begin()));
  text.gauge("store_bytes", "Size of the store's file.", as_number(storage.store_bytes));
  text.gauge("store_wal_bytes", "Size of its write-ahead log.", as_number(storage.wal_bytes));
  text.gauge("recovery_seconds", "How long the daemon read its store when it started.",
             runtime == nullptr ? 0 : runtime->recovery_seconds());
  add_seconds(text, "backup_age_seconds",
              "Age of the newest backup that was made and checked; no sample if there is none.",
              sources.backup_age);
  text.counter("backup_failures_total", "Scheduled backups that failed.", as_number(sources.backup_failures));
}

void add_access(PrometheusText& text, const MetricsSources& sources) {
  add_seconds(text, "certificate_remaining_seconds",
              "Time until the TLS certificate of the HTTP port expires, negative afterwards; no sample "
              "without TLS.",
              sources.certificate_left);
  add_seconds(text, "token_remaining_seconds", "Time until the next token expires; no sample if none does.",
              sources.token_left);
  text.counter(
      "audit_write_failures_total",
      "Entries that could not be written to the audit log. Changes are refused until it can be written.",
      as_number(sources.audit_failures));
}

void add_checkpoint_storage(PrometheusText& text, const MetricsSources& sources) {
  text.family("checkpoint_free_bytes", gauge,
              "Free bytes where checkpoints of experiments without checkpoint_storage go, looked at each "
              "minute; no sample if it can't be examined.");
  if (sources.checkpoint_free_bytes) {
    text.sample(as_number(*sources.checkpoint_free_bytes));
  }
  text.gauge("checkpoints_undeleted",
             "Checkpoints that the last try could not delete; it is repeated each minute.",
             as_number(sources.undeleted_checkpoints));
}

void add_http(PrometheusText& text, const HttpCounts* counts, std::size_t subscribers) {
  const HttpCounts none;
  const HttpCounts& http = counts == nullptr ? none : *counts;
  text.family("http_requests_total", counter, "HTTP requests answered, by route, method and class of status.",
              {"route", "method", "status"});
  for (const auto& [answered, number] : http.answers) {
    const auto& [route, method, status] = answered;
    text.sample(as_number(number), {route, method, std::to_string(status) + "xx"});
  }
  text.family("http_request_seconds", histogram, "Time from a request's arrival to the start of its answer.");
  text.buckets(http.seconds.bounds, http.seconds.counts, http.seconds.sum, {}, http.exemplars);
  text.gauge("http_in_flight", "Requests that wait for their answer.", as_number(http.in_flight));
  text.gauge("http_subscribers", "Event streams that are open.", as_number(subscribers));
  text.family("http_denied_total", counter,
              "Requests refused for lack of a token (401), lack of a role (403) or too many of them (429), "
              "by reason.",
              {"why"});
  for (const auto& [status, why] :
       {std::pair{401U, "token"}, std::pair{403U, "role"}, std::pair{429U, "rate"}}) {
    const auto found = http.denied.find(status);
    text.sample(found == http.denied.end() ? 0 : as_number(found->second), {why});
  }
}

void add_loop(PrometheusText& text, net::LoopLag* lag) {
  const net::LoopLag::Lateness lateness = lag == nullptr ? net::LoopLag::Lateness{} : lag->lateness();
  text.family("event_loop_lag_seconds", histogram,
              "How late a timer of the daemon's loop was, ten times a second.");
  text.buckets(net::LoopLag::bounds_seconds, lateness.counts, lateness.sum_seconds);
  text.gauge("event_loop_turn_max_seconds",
             "The longest that one task held the daemon's loop since /metrics was read last.",
             lag == nullptr ? 0 : static_cast<double>(lag->take_longest_turn()) / 1e9);
}

void add_log(PrometheusText& text) {
  text.family("log_messages_total", counter, "Lines that the daemon logged, by level.", {"level"});
  for (const auto& [level, number] : net::logged_lines()) {
    text.sample(as_number(number), {level});
  }
}

}  // namespace

PrometheusText daemon_metrics(const MetricsSources& sources, PrometheusText::Format format) {
  PrometheusText text(format);
  text.family("build_info", gauge, "1, with the version of the daemon, its revision and compiler.",
              {"version", "revision", "compiler"});
  text.sample(1, {sources.version, HPSEARCH_REVISION, compiler});
  const PoolNames pools = sources.runtime == nullptr ? PoolNames() : PoolNames(sources.runtime->engine());
  add_process_metrics(text);
  const WorkspaceNames workspaces =
      sources.runtime == nullptr ? WorkspaceNames() : WorkspaceNames(sources.runtime->engine().workspaces());
  add_search_metrics(text, sources.runtime, pools, workspaces, sources.named_experiments);
  add_quota_metrics(text, sources.runtime, workspaces);
  add_store(text, sources);
  add_checkpoint_storage(text, sources);
  add_worker_metrics(text, sources.runtime, sources.sessions, pools);
  add_device_metrics(text, sources.runtime, sources.sessions);
  add_http(text, sources.http, sources.subscribers);
  add_access(text, sources);
  add_loop(text, sources.lag);
  add_log(text);
  return text;
}

std::string describe_metrics() {
  return proto::described(daemon_metrics({}));
}

}  // namespace hpsearch::daemon
