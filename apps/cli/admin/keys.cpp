#include <filesystem>
#include <string>

#include "cli/client/state_directory.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "daemon/keys/worker_keys.hpp"
#include "hpsearch/io/zmq/curve.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;

using engine::Value;

/// Makes the directory if necessary: keys may be allowed before a daemon's first start.
Outcome<std::string> state_directory(const std::string& given) {
  const fs::path directory = fs::absolute(given).lexically_normal();
  if (const auto made = make_private_directory(directory); !made) {
    return made.failure();
  }
  return directory.string();
}

}  // namespace

int keys_list(const KeyOptions& options, const Output& output) {
  const auto directory = state_directory(options.state_dir);
  if (!directory) {
    return output.fail(directory.failure());
  }
  const auto own = net::curve_keys_in(*directory);
  if (!own) {
    return output.fail(failure_of(own.error()));
  }
  const auto all = daemon::WorkerKeys(*directory).list();
  if (!all) {
    return output.fail(failure_of(all.error()));
  }
  if (output.json()) {
    Value::List workers;
    for (const daemon::WorkerKey& worker : *all) {
      workers.emplace_back(Value::Map{{"name", worker.name}, {"key", worker.key}});
    }
    output.data(Value::Map{{"server_key", own->public_key}, {"workers", std::move(workers)}});
    return 0;
  }
  Table table({{"worker"}, {"key"}});
  for (const daemon::WorkerKey& worker : *all) {
    table.add({worker.name, worker.key});
  }
  output.print("the daemon's own, for --server-key: " + own->public_key + "\n" +
               (all->empty() ? "no worker is allowed\n" : table.text()));
  return 0;
}

int keys_allow(const KeyOptions& options, const Output& output) {
  const auto directory = state_directory(options.state_dir);
  if (!directory) {
    return output.fail(directory.failure());
  }
  if (const auto allowed = daemon::WorkerKeys(*directory).allow({options.name, options.key}); !allowed) {
    return output.fail(failure_of(allowed.error()));
  }
  if (output.json()) {
    output.data(Value::Map{{"name", options.name}, {"key", options.key}});
  } else {
    output.print("worker " + options.name + " may connect\n");
  }
  return 0;
}

int keys_deny(const KeyOptions& options, const Output& output) {
  const auto directory = state_directory(options.state_dir);
  if (!directory) {
    return output.fail(directory.failure());
  }
  const auto denied = daemon::WorkerKeys(*directory).deny(options.name);
  if (!denied) {
    return output.fail(failure_of(denied.error()));
  }
  if (output.json()) {
    output.data(Value::Map{{"keys", static_cast<std::int64_t>(*denied)}});
  } else {
    output.print(std::to_string(*denied) + (*denied == 1 ? " key is" : " keys are") +
                 " no longer allowed; its trials continue until the worker is lost\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
