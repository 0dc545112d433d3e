#include "daemon/http/http_metrics.hpp"

#include <string>
#include <utility>

#include "daemon/blobs/checkpoint_remover.hpp"
#include "daemon/blobs/checkpoint_space.hpp"
#include "daemon/core/audit_queue.hpp"
#include "daemon/core/scheduled_backups.hpp"
#include "daemon/metrics/daemon_metrics.hpp"
#include "hpsearch/proto/api/daemon.hpp"

namespace hpsearch::daemon {

using engine::Value;

namespace {

MetricsSources sources_of(const RequestContext& context) {
  const AboutDaemon& about = context.about;
  const engine::Instant now = context.runtime.now();
  MetricsSources sources{.version = about.version,
                         .runtime = &context.runtime,
                         .sessions = &context.sessions,
                         .http = &context.http_counts,
                         .lag = about.lag,
                         .subscribers = context.streams->open.count(),
                         .named_experiments = about.named_experiments};
  if (about.backups != nullptr && about.backups->last_good()) {
    sources.backup_age = now - *about.backups->last_good();
  }
  sources.backup_failures = about.scheduled_backups == nullptr ? 0 : about.scheduled_backups->failures();
  if (about.tls) {
    sources.certificate_left = engine::Duration::seconds(about.tls->valid_for().count());
  }
  if (const auto expiry = about.tokens == nullptr ? std::nullopt : about.tokens->next_expiry(now)) {
    sources.token_left = *expiry - now;
  }
  sources.audit_failures = about.audit == nullptr ? 0 : about.audit->failures();
  if (about.checkpoint_space != nullptr) {
    sources.checkpoint_free_bytes = about.checkpoint_space->free();
  }
  if (about.remover != nullptr) {
    for (const auto& [experiment, left] : about.remover->left()) {
      sources.undeleted_checkpoints += left.paths.size();
    }
  }
  return sources;
}

}  // namespace

net::HttpResponse metrics_now(const RequestContext& context, const net::HttpRequest& request) {
  const auto format = proto::PrometheusText::format_for(request.header("Accept"));
  net::HttpResponse response;
  response.content_type = proto::PrometheusText::content_type(format);
  response.body = daemon_metrics(sources_of(context), format).take();
  return response;
}

/// The daemon does not listen while it reads its store at the start, so that check has passed here.
net::HttpResponse readiness_now(const RequestContext& context) {
  const Storage& storage = context.runtime.storage();
  api::Readiness readiness;
  if (storage.intake != Intake::everything || context.runtime.stalled()) {
    readiness.failing.push_back({"storage", storage.why.empty() ? storage.state : storage.why});
  }
  if (context.about.is_ending && context.about.is_ending()) {
    readiness.failing.push_back({"running", "the daemon is shutting down"});
  }
  readiness.ready = readiness.failing.empty();
  return with(readiness.ready ? 200 : 503, readiness);
}

net::HttpResponse answer_scraper(const RequestContext& context, const net::HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    return failure(405, engine::Error{engine::Errc::bad_request, request.method + " is not served here"});
  }
  if (request.path == "/metrics") {
    return metrics_now(context, request);
  }
  if (request.path == "/readyz") {
    return readiness_now(context);
  }
  return failure(engine::Error{engine::Errc::not_found, "only /metrics and /readyz are served here"});
}

}  // namespace hpsearch::daemon
