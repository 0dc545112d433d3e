#include "cli/experiment/cluster_check.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/saved_daemons.hpp"
#include "cli/client/server.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

void add_note(ExperimentFile& file, std::string path, std::string what, std::string allowed) {
  const std::size_t line = file.lines.line_of(path);
  file.notes.push_back({line, {std::move(path), std::move(what), std::move(allowed)}, {}});
}

bool has_labels(const Value& worker, const engine::ResourcesConfig& wanted) {
  return std::all_of(wanted.labels.begin(), wanted.labels.end(), [&worker](const auto& label) {
    return text_at(member(worker, "labels"), label.first) == label.second;
  });
}

/// "default, gpu"
std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    out += (out.empty() ? "" : ", ") + printable(name);
  }
  return out;
}

/// Checks whether a context or variable names a daemon: a private search that ran here is not a cluster.
Outcome<bool> names_daemon(const ServerOptions& options) {
  if (options.server || options.state_dir) {
    return true;
  }
  const Outcome<SavedDaemons> saved = load_saved_daemons();
  return saved ? Outcome<bool>(saved->find(saved->current) != nullptr) : Outcome<bool>(saved.failure());
}

Outcome<Value> workers_of(const ServerOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options, output);
  if (!server) {
    return server.failure();
  }
  Client client = server->client();
  client.set_timeout(std::chrono::seconds(5));
  return client.get_list("/api/v1/workers", "workers");
}

}  // namespace

void check_cluster(ExperimentFile& file, const Value::List& workers) {
  const engine::ResourcesConfig& wanted = file.config->resources;
  const std::string pool(engine::pool_named(wanted.resource_pool));
  std::set<std::string> pools;
  std::uint64_t most = 0;
  std::uint64_t together = 0;
  bool served = false;
  for (const Value& worker : workers) {
    if (member(worker, "present") != Value(true)) {
      continue;
    }
    pools.insert(text_at(worker, "pool"));
    if (text_at(worker, "pool") == pool && has_labels(worker, wanted)) {
      served = true;
      most = std::max(most, count_at(worker, "slots"));
      together += count_at(worker, "slots");
    }
  }
  if (!pools.contains(pool)) {
    add_note(file, "resources.resource_pool",
             (wanted.resource_pool.empty()
                  ? "isn't set, and no worker is in the pool "
                  : "is " + engine::quoted(Value(pool)) + ", and no worker is in the pool ") +
                 pool + " now",
             pools.empty() ? "the daemon has no workers" : "pools with workers: " + joined(pools));
  } else if (!served) {
    add_note(file, "resources.labels", "no worker in the pool " + printable(pool) + " has these labels now",
             "as hpsearch workers lists them");
  } else if (wanted.slots_per_trial > (wanted.spans_workers ? together : most)) {
    const std::string has = sentences::counted(wanted.spans_workers ? together : most, "slot");
    add_note(file, "resources.slots_per_trial",
             "is " + std::to_string(wanted.slots_per_trial) +
                 (wanted.spans_workers ? ", but the workers have " + has + " together"
                                       : ", but no worker has more than " + has),
             "trials wait until the slots are there");
  }
}

void check_named_cluster(ExperimentFile& file, const ServerOptions& options, const Output& output) {
  const Outcome<bool> named = names_daemon(options);
  if (named && !*named) {
    return;
  }
  const Outcome<Value> answer = named ? workers_of(options, output) : Outcome<Value>(named.failure());
  if (!answer) {
    output.message("slots and pools aren't checked: " + printable(answer.failure().message) + " [note]");
    return;
  }
  check_cluster(file, list_at(*answer, "workers"));
}

}  // namespace hpsearch::cli
