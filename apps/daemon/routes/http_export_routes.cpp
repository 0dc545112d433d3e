#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "daemon/http/http_pieces.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/views/export_rows.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::size_t rows_at_once = 100;  // Rows between two turns of the loop: about 2 ms.

/// Makes the rows of all trials, each as of its own turn.
std::function<void(TakePiece)> rows_of(RequestContext& context, const Call& call,
                                       views::ExportFormat format) {
  return [&context, call, format, next = std::uint64_t{0}](TakePiece take) mutable {
    const auto record = context.experiment(call);
    if (!record || context.runtime.stalled()) {
      take(std::nullopt);
      return;
    }
    BodyPiece piece{next == 0 ? views::export_head(**record, format) : std::string()};
    const std::uint64_t trials = (*record)->trials.size();
    const engine::Instant now = context.runtime.now();
    for (const std::uint64_t end = std::min<std::uint64_t>(trials, next + rows_at_once); next < end; ++next) {
      piece.bytes += views::export_row(**record, engine::TrialNumber(next), format, now);
    }
    piece.is_last = next == trials;
    context.runtime.when_durable(
        [take = std::move(take), piece = std::move(piece)]() mutable { take(std::move(piece)); });
  };
}

void export_trials(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  const std::string_view asked = call.request.query_or("format", {});
  const std::string_view name = asked.empty() ? "csv" : asked;
  const auto* const found =
      std::find(std::begin(views::export_formats), std::end(views::export_formats), name);
  const auto format = static_cast<views::ExportFormat>(found - std::begin(views::export_formats));
  net::HttpResponse response;
  response.content_type =
      format == views::ExportFormat::csv ? "text/csv; charset=utf-8" : "application/x-ndjson; charset=utf-8";
  response.headers.emplace_back("Content-Disposition",
                                "attachment; filename=\"experiment-" +
                                    std::to_string(call.experiment().number()) +
                                    (format == views::ExportFormat::csv ? ".csv\"" : ".jsonl\""));
  response.stream = [&context, call, format](std::shared_ptr<net::HttpBody> body) {
    send_in_pieces(std::move(body), in_turn(context.lanes->of(Lane::experiments), key_owner(call.caller),
                                            rows_of(context, call, format)));
  };
  call.reply(std::move(response));
}

constexpr QueryParameter export_query[] = {
    {"format", QueryParameter::Kind::choice, "CSV, a trial of JSON a line, or what Optuna reads.", 0, 0,
     views::export_formats},
};

constexpr Route export_table[] = {
    {"GET",
     "/api/v1/experiments/{experiment}/export",
     Role::viewer,
     &export_trials,
     {.id = "export_trials",
      .tag = "bulk",
      .summary = "Writes all trials, as they are when their turn comes",
      .answer = nullptr,
      .answer_type = "text/csv, application/x-ndjson"},
     export_query,
     true,
     Reach::usual,
     {Lane::experiments}},
};

}  // namespace

std::span<const Route> export_routes() noexcept {
  return export_table;
}

}  // namespace hpsearch::daemon
