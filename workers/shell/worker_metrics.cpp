#include "hpsearch/workers/shell/worker_metrics.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "hpsearch/io/net/log.hpp"

namespace hpsearch::workers {
namespace {

using enum proto::MetricType;
using proto::PrometheusText;

double as_number(std::uint64_t count) {
  return static_cast<double>(count);
}

void add_status(PrometheusText& text, const WorkerMetricsSources& sources) {
  const WorkerStatus& status = sources.status;
  text.gauge("worker_connected", "1 while the worker has a session with the daemon, else 0.",
             status.connected ? 1 : 0);
  text.family(
      "worker_slots", gauge,
      "Slots by state: busy (an attempt runs), idle, withdrawn (the device is broken, or processes survive "
      "SIGKILL).",
      {"state", "kind"});
  const std::uint64_t taken = std::min(status.slots, status.busy + status.out_of_use);
  for (const auto& [state, slots] : {std::pair{"busy", status.busy}, std::pair{"idle", status.slots - taken},
                                     std::pair{"withdrawn", status.out_of_use}}) {
    text.sample(as_number(slots), {state, sources.slot_kind});
  }
  text.family(
      "worker_attempts", gauge,
      "Attempts by state: waiting (their slots are still in use), running (from preparing their files to "
      "publishing the last checkpoint), ended (the daemon has not acknowledged everything yet).",
      {"state"});
  for (const auto& [state, attempts] :
       {std::pair{"waiting", status.waiting}, std::pair{"running", status.running},
        std::pair{"ended", status.ended}}) {
    text.sample(as_number(attempts), {state});
  }
  text.gauge("worker_reports_unacknowledged", "Reports that the daemon has not acknowledged.",
             as_number(status.unacknowledged));
  text.gauge("worker_spool_bytes", "Size of the spools of these attempts.", as_number(sources.spool_bytes));
  text.gauge("worker_journal_bytes", "Size of the journals of their programs.",
             as_number(sources.journal_bytes));
}

void add_transfers(PrometheusText& text, const TransferCounts& transfers) {
  text.family("checkpoint_seconds", histogram, "Time to move a checkpoint to its storage.");
  text.sample(transfers.checkpoints);
  text.family("context_fetch_seconds", histogram,
              "Time until the context of an attempt was there; near 0 if the worker had it already.");
  text.sample(transfers.contexts);
}

/// The slots whose device is in the last report.
void add_devices(PrometheusText& text, const WorkerMetricsSources& sources) {
  using Value = std::function<std::optional<double>(const Device&)>;
  struct Family {
    std::string_view name;
    std::string_view help;
    Value value;
  };
  const Family families[] = {
      {"worker_device_healthy", "1 if the device of the slot has no known trouble, else 0.",
       [](const Device& device) { return device.trouble.empty() ? 1.0 : 0.0; }},
      {"worker_device_utilization_ratio",
       "Share of the last sampling period of the driver in which the device computed.",
       [](const Device& device) {
         return device.utilization ? std::optional(static_cast<double>(*device.utilization) / 100)
                                   : std::nullopt;
       }},
      {"worker_device_memory_total_bytes", "Memory of the device.",
       [](const Device& device) {
         return device.memory_bytes > 0 ? std::optional(as_number(device.memory_bytes)) : std::nullopt;
       }},
      {"worker_device_memory_used_bytes", "Memory in use, of all programs.",
       [](const Device& device) {
         return device.free_bytes
                    ? std::optional(
                          as_number(device.memory_bytes - std::min(device.memory_bytes, *device.free_bytes)))
                    : std::nullopt;
       }},
      {"worker_device_temperature_celsius", "Temperature of the device's chip.",
       [](const Device& device) {
         return device.temperature ? std::optional(static_cast<double>(*device.temperature)) : std::nullopt;
       }},
  };
  for (const Family& family : families) {
    text.family(family.name, gauge, family.help, {"slot", "uuid"});
    for (std::size_t slot = 0; slot < sources.devices.size(); ++slot) {
      const std::string& uuid = sources.devices[slot].uuid;
      const auto device = std::find_if(sources.report.devices.begin(), sources.report.devices.end(),
                                       [&uuid](const Device& one) { return one.uuid == uuid; });
      const auto value = device == sources.report.devices.end() ? std::nullopt : family.value(*device);
      if (value) {
        text.sample(*value, {std::to_string(slot), uuid});
      }
    }
  }
}

net::HttpResponse answer_scraper(const net::HttpRequest& request,
                                 const std::function<WorkerMetricsSources()>& sources) {
  net::HttpResponse response;
  if (request.path != "/metrics" || (request.method != "GET" && request.method != "HEAD")) {
    response.status = 404;
    response.content_type = "text/plain; charset=utf-8";
    response.body = "only GET /metrics is served here\n";
    return response;
  }
  const auto format = PrometheusText::format_for(request.header("Accept"));
  response.content_type = PrometheusText::content_type(format);
  response.body = worker_metrics(sources(), format).take();
  return response;
}

}  // namespace

PrometheusText worker_metrics(const WorkerMetricsSources& sources, PrometheusText::Format format) {
  PrometheusText text(format);
  text.family("build_info", gauge, "1, with the version of the worker.", {"version"});
  text.sample(1, {sources.version});
  add_status(text, sources);
  add_transfers(text, sources.transfers);
  add_devices(text, sources);
  text.family("log_messages_total", counter, "Lines that the worker logged, by level.", {"level"});
  for (const auto& [level, number] : net::logged_lines()) {
    text.sample(as_number(number), {level});
  }
  return text;
}

engine::Result<std::unique_ptr<net::HttpServer>> serve_worker_metrics(
    net::Loop& loop, const std::string& address, std::function<WorkerMetricsSources()> sources) {
  auto served = net::HttpServer::listen(
      loop, address,
      [sources = std::move(sources)](const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
        reply(answer_scraper(request, sources));
      },
      {.most_body_bytes = 1024});
  if (!served) {
    return engine::Error{served.error().code, "--metrics: " + served.error().message};
  }
  net::log(net::Level::info, "serves metrics on " + (*served)->address());
  return served;
}

std::string describe_worker_metrics() {
  return proto::described(worker_metrics({}, PrometheusText::Format::text));
}

}  // namespace hpsearch::workers
