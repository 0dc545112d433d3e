#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// The reasons for a notification (docs/notifications.md). A receiver can choose each of them but
/// `test`.
enum class Occasion : std::uint8_t { ended, failed, paused, new_best, worker_lost, test };
inline constexpr std::string_view occasion_names[] = {"ended",    "failed",      "paused",
                                                      "new_best", "worker_lost", "test"};
[[nodiscard]] constexpr std::string_view name_of(Occasion occasion) noexcept {
  return occasion_names[static_cast<std::size_t>(occasion)];
}

/// One notification: the JSON body of a webhook.
struct Notification {
  Occasion occasion{};
  std::string id;    ///< The same whenever it is sent again, and of no other notification.
  double at = 0;     ///< Seconds since the epoch.
  std::string text;  ///< One sentence.
  std::string link;  ///< Its page; "" = the address of the pages is not known.
  std::optional<engine::ExperimentId> experiment{};
  std::string name{};  ///< The experiment's or the worker's.
  std::string workspace{};
  std::string owner{};
  std::vector<std::string> labels{};
  std::string state{};   ///< The experiment's: "COMPLETED".
  std::string reason{};  ///< Why it ended or paused, or why the worker is lost.
  std::optional<engine::TrialNumber> best_trial{};
  std::string metric{};
  std::optional<double> best_metric{};
};

void spell(auto& fields, proto::Is<Notification> auto& one) {
  std::string type(name_of(one.occasion));
  fields("type", type);
  fields("id", one.id);
  fields("at", one.at);
  fields("text", one.text);
  fields.maybe("link", one.link);
  fields.maybe("experiment", one.experiment);
  fields.maybe("name", one.name);
  fields.maybe("workspace", one.workspace);
  fields.maybe("owner", one.owner);
  fields.maybe("labels", one.labels);
  fields.maybe("state", one.state);
  fields.maybe("reason", one.reason);
  fields.maybe("best_trial", one.best_trial);
  fields.maybe("metric", one.metric);
  fields.maybe("best_metric", one.best_metric);
}

/// Whether any event of this type is worth a notification; best results are not seen in events.
[[nodiscard]] bool is_worth_notifying(const engine::Event& event) noexcept;

/// The notification of a stored event; nothing: it is worth none, or its experiment was deleted meanwhile.
/// `cluster` is the store's number, and `pages` the address of the pages, without a "/" at its end, or "".
[[nodiscard]] std::optional<Notification> notification_of(const engine::Event& event,
                                                          const engine::Engine& engine, std::uint64_t cluster,
                                                          const std::string& pages);

/// The notification of an experiment's best result, which is better than an earlier one; nothing: it has
/// none.
[[nodiscard]] std::optional<Notification> notification_of_best(const engine::ExperimentRecord& record,
                                                               engine::Instant now, std::uint64_t cluster,
                                                               const std::string& pages);

}  // namespace hpsearch::daemon
