#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "cli/client/answers.hpp"
#include "cli/client/queues.hpp"
#include "cli/doctor/observe.hpp"
#include "cli/doctor/samples.hpp"

namespace hpsearch::cli {
namespace {

constexpr std::chrono::seconds patience{2};
constexpr std::chrono::seconds patience_for_queues{3};
constexpr std::uint64_t most_metrics = std::uint64_t{16} << 20U;
constexpr std::size_t most_queues = 8;

/// Asks about all queues at the same time; those without an answer in time are null.
std::map<std::string, std::optional<api::QueueCheck>> checks_of(const Client& client,
                                                                const std::vector<api::Queue>& queues) {
  std::map<std::string, std::future<std::optional<api::QueueCheck>>> running;
  for (const api::Queue& queue : queues) {
    if (queue.state == "removed" || running.size() == most_queues) {
      continue;
    }
    running.emplace(queue.name, std::async(std::launch::async, [&client, queue] {
                      Client asking = client;
                      asking.set_timeout(patience_for_queues);
                      const auto check = read_as<api::QueueCheck>(
                          asking.post(queue_target("", "/check"),
                                      proto::encode_value(api::QueueRequest{queue.name, queue.settings})));
                      return check ? std::optional(*check) : std::nullopt;
                    }));
  }
  std::map<std::string, std::optional<api::QueueCheck>> checks;
  for (auto& [name, check] : running) {
    checks.emplace(name, check.get());
  }
  return checks;
}

}  // namespace

DaemonFacts observe_daemon(const Outcome<Client>& daemon) {
  DaemonFacts facts;
  if (!daemon) {
    facts.problem = daemon.failure().message;
    return facts;
  }
  Client client = *daemon;
  client.set_timeout(patience);
  facts.address = client.address();
  auto status = read_as<api::Status>(client.get("/api/v1/status"));
  if (!status) {
    facts.problem = status.failure().message;
    return facts;
  }
  facts.status = *std::move(status);
  // At the same time: a busy daemon may need the whole time for each.
  const auto begin = [&client](auto ask) { return std::async(std::launch::async, ask, std::cref(client)); };
  auto ready = begin([](const Client& from) { return from.get("/readyz"); });
  auto metrics = begin([](const Client& from) { return from.get_bytes("/metrics", 0, most_metrics); });
  auto workers = begin(
      [](const Client& from) { return every_entry(from, "/api/v1/workers", &api::WorkerPage::workers); });
  auto configuration = begin(
      [](const Client& from) { return read_as<api::Configuration>(from.get("/api/v1/configuration")); });
  auto tokens = begin([](const Client& from) { return read_as<api::TokenList>(from.get("/api/v1/tokens")); });
  if (auto queues = read_as<api::QueueList>(client.get(queue_target()))) {
    facts.queues = std::move(queues->queues);
    facts.queue_checks = checks_of(client, facts.queues);
  }
  if (const auto answer = ready.get(); !answer) {
    facts.not_ready.push_back(answer.failure().message);
  }
  if (const auto text = metrics.get()) {
    facts.metrics = samples_of(*text);
  }
  if (auto all = workers.get()) {
    facts.workers = *std::move(all);
  }
  if (auto options = configuration.get()) {
    facts.configuration = *std::move(options);
  }
  if (auto list = tokens.get()) {
    facts.tokens = std::move(list->tokens);
  }
  return facts;
}

}  // namespace hpsearch::cli
