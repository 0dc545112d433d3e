#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/scope.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/streams/stored_events.hpp"
#include "hpsearch/io/http/http_body.hpp"

namespace hpsearch::daemon {

/// What a page can follow: "experiments", "experiment:3", "trials:3", "workers" or "cluster".
struct TopicName {
  enum class Kind : std::uint8_t { experiments, experiment, trials, workers, cluster };
  Kind kind = Kind::cluster;
  engine::ExperimentId experiment{};  ///< Of the kinds that have one.
  Scope scope{};  ///< Of the other kinds: what its followers may see. Not part of its text.

  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const TopicName&, const TopicName&) = default;
};

/// A list with commas. bad_request: it is empty, too long, or one of them is not known.
[[nodiscard]] engine::Result<std::vector<TopicName>> read_topics(std::string_view list);

/// Tells subscribers what has changed, not how often: at most four messages a second for each topic, with the
/// new values of what changed. After the last change a last message has it.
///
/// A message is made once for all subscribers of its topic. One that reads slowly gets fewer messages, then a
/// full one; nothing gathers for it.
///
/// Threads: the loop's. Cost: nothing without subscribers; else at most a twentieth of the loop's time for
/// each topic, and less often what takes long to make.
class TopicFeed {
 public:
  /// Makes the values, as the routes show them.
  struct Values {
    std::function<engine::Value(const engine::ExperimentRecord&)> summary;
    std::function<engine::Value(const engine::ExperimentRecord&)> detail;
    std::function<std::string(const engine::ExperimentRecord&)> waits_for;
    std::function<engine::Value(const engine::WorkerRecord&, const Scope&)> worker;
    std::function<engine::Value(const Scope&)> status;
  };
  /// Rows of a message; of more only their count is told.
  static constexpr std::size_t most_rows = 200;

  TopicFeed(Runtime& runtime, StoredEvents& stored, Values values);
  TopicFeed(const TopicFeed&) = delete;
  TopicFeed& operator=(const TopicFeed&) = delete;
  ~TopicFeed();

  /// The first message of each topic is a full one.
  void follow(const std::shared_ptr<net::HttpBody>& body, const std::vector<TopicName>& topics);

 private:
  using Bodies = std::vector<std::shared_ptr<net::HttpBody>>;
  struct Topic {
    Bodies fresh;                   ///< They need a full message.
    Bodies live;                    ///< They have had one and get what changes.
    std::set<std::uint64_t> dirty;  ///< Numbers of what changed; 0 stands for the one thing of its topic.
    std::map<std::uint64_t, std::string> told;  ///< What changes without events, as it was told last.
    std::chrono::steady_clock::time_point not_before;
    std::chrono::steady_clock::time_point look_at;  ///< For what changes without events.
  };

  void note(const engine::Event& event);
  void look();
  void look_for_silent_changes(const TopicName& name, Topic& topic);
  /// Whether there was something to tell.
  bool send(const TopicName& name, Topic& topic);
  /// Whether those who follow the topic may see the experiment.
  [[nodiscard]] bool shows(const TopicName& name, std::uint64_t experiment) const;
  [[nodiscard]] engine::Value::Map all_of(const TopicName& name) const;
  [[nodiscard]] engine::Value::Map rows_of(const TopicName& name,
                                           const std::set<std::uint64_t>& numbers) const;
  void tell(const TopicName& name, engine::Value::Map message, Bodies to);
  void remove_closed();

  Runtime& runtime_;
  StoredEvents& stored_;
  Values values_;
  std::map<TopicName, Topic> topics_;
  std::uint64_t listening_ = 0;
  net::Watch watch_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace hpsearch::daemon
