#include "daemon/retention/retention.hpp"

#include <chrono>
#include <cstddef>
#include <string>

#include "hpsearch/engine/experiment/deleted_experiment.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::chrono::seconds look_every{10};
// Each removal costs as much as the experiment has trials, and other requests wait for it.
constexpr std::size_t most_experiments_at_once = 16;

}  // namespace

Retention::Retention(Runtime& runtime, RetentionRules rules)
    : runtime_(runtime), rules_(rules), clock_(runtime.loop().every(look_every, [this] { look(); })) {
}

void Retention::look() {
  if (runtime_.stalled()) {
    return;
  }
  for (const engine::ExperimentId id :
       experiments_to_remove(runtime_.engine(), rules_, runtime_.now(), most_experiments_at_once)) {
    const std::string name = runtime_.engine().find(id)->config.name;
    const auto removed = runtime_.perform(engine::DeleteExperiment{id, rules_.ended_experiments});
    const std::string what = "experiment " + std::to_string(id.number()) + " \"" + name + "\"";
    if (removed) {
      net::log(net::Level::info, what + " was removed: it ended more than " +
                                     engine::kept_for_text(rules_.ended_experiments) +
                                     " ago (retention.ended_experiments)");
    } else {
      net::log(net::Level::warning, what + " can't be removed: " + removed.error().message);
    }
  }
}

}  // namespace hpsearch::daemon
