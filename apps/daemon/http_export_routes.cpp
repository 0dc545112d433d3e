#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "daemon/http_request_context.hpp"
#include "hpsearch/net/http_body.hpp"
#include "hpsearch/queries/export_rows.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::size_t rows_at_once = 100;                   // Between two turns of the loop: about 2 ms.
constexpr std::size_t most_unsent = std::size_t{1} << 20U;  // Then it waits for who reads it.

/// Writes all trials of an experiment as they are when their turn comes. Lives in what it has posted.
class Export : public std::enable_shared_from_this<Export> {
 public:
  Export(RequestContext& context, Call call, queries::ExportFormat format,
         std::shared_ptr<net::HttpBody> body)
      : context_(context), call_(std::move(call)), format_(format), body_(std::move(body)) {}

  void begin() {
    body_->on_drained([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self != nullptr && std::exchange(self->waits_, false)) {
        self->go_on();
      }
    });
    // The connection, which has the body, keeps this alive until its end.
    body_->on_closed([self = shared_from_this()] { self->body_.reset(); });
    go_on();
  }

 private:
  void go_on() {
    const auto record = context_.experiment(call_);
    if (body_ == nullptr || !body_->is_open()) {
      return;
    }
    if (!record || context_.runtime.stalled()) {
      body_->cut();
      body_.reset();
      return;
    }
    std::string rows = next_ == 0 ? queries::export_head(**record, format_) : std::string();
    const std::uint64_t end = std::min<std::uint64_t>((*record)->trials.size(), next_ + rows_at_once);
    const engine::Instant now = context_.runtime.now();
    for (; next_ < end; ++next_) {
      rows += queries::export_row(**record, engine::TrialNumber(next_), format_, now);
    }
    const bool is_last = end == (*record)->trials.size();
    context_.runtime.when_durable([self = shared_from_this(), rows = std::move(rows), is_last]() mutable {
      self->write(std::move(rows), is_last);
    });
  }
  void write(std::string rows, bool is_last) {
    if (body_ == nullptr || !body_->is_open()) {
      return;
    }
    body_->write(std::move(rows));
    if (is_last) {
      body_->end();
      body_.reset();
    } else if (body_->unsent() > most_unsent) {
      waits_ = true;
    } else {
      go_on();
    }
  }

  RequestContext& context_;
  Call call_;
  queries::ExportFormat format_;
  std::shared_ptr<net::HttpBody> body_;
  std::uint64_t next_ = 0;  // Trial.
  bool waits_ = false;
};

void export_trials(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  const std::string_view asked = call.request.query_or("format", {});
  const std::string_view name = asked.empty() ? "csv" : asked;
  const auto* const found =
      std::find(std::begin(queries::export_formats), std::end(queries::export_formats), name);
  const auto format = static_cast<queries::ExportFormat>(found - std::begin(queries::export_formats));
  net::HttpResponse response;
  response.content_type = format == queries::ExportFormat::csv ? "text/csv; charset=utf-8"
                                                               : "application/x-ndjson; charset=utf-8";
  response.headers.emplace_back("Content-Disposition",
                                "attachment; filename=\"experiment-" +
                                    std::to_string(call.experiment().number()) +
                                    (format == queries::ExportFormat::csv ? ".csv\"" : ".jsonl\""));
  response.stream = [&context, call, format](std::shared_ptr<net::HttpBody> body) {
    std::make_shared<Export>(context, call, format, std::move(body))->begin();
  };
  call.reply(std::move(response));
}

constexpr QueryParameter export_query[] = {
    {"format", QueryParameter::Kind::choice, "CSV, a trial of JSON a line, or what Optuna reads.", 0, 0,
     queries::export_formats},
};

constexpr Route table[] = {
    {"GET",
     "/api/v1/experiments/#/export",
     Role::viewer,
     &export_trials,
     {.id = "export_trials",
      .tag = "bulk",
      .summary = "Writes all trials, as they are when their turn comes",
      .answer = "",
      .answer_type = "text/csv, application/x-ndjson"},
     export_query},
};

}  // namespace

std::span<const Route> export_routes() noexcept {
  return table;
}

}  // namespace hpsearch::daemon
