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
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::daemon {

/// A topic that a page can follow: "experiments", "experiment:3", "trials:3", "workers" or "cluster".
struct TopicName {
  enum class Kind : std::uint8_t { experiments, experiment, trials, workers, cluster };
  Kind kind = Kind::cluster;
  engine::ExperimentId experiment{};  ///< For kinds with an experiment.
  Scope scope{};                   ///< For the other kinds: the scope of its followers. Not part of its text.
  sentences::Language language{};  ///< In which its followers get sentences. Not part of its text.

  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const TopicName&, const TopicName&) = default;
};

/// A comma-separated list. bad_request: it is empty, too long, or has an unknown topic.
[[nodiscard]] engine::Result<std::vector<TopicName>> read_topics(std::string_view list);

/// Sends subscribers what has changed, not how often: at most four messages a second per topic, with the new
/// values of what changed. The last message always contains the last change.
///
/// A message is made once for all subscribers of its topic with one scope and language. A slow reader gets
/// fewer messages, then a full one; nothing accumulates for it.
///
/// Threads: the loop's. Cost: nothing without subscribers; otherwise at most a twentieth of the loop's time
/// per topic, and messages that take long to make are sent less often.
class TopicFeed {
 public:
  /// Makes the values, as the routes show them.
  struct Values {
    std::function<engine::Value(const engine::ExperimentRecord&, sentences::Language)> summary;
    std::function<engine::Value(const engine::ExperimentRecord&, sentences::Language)> detail;
    std::function<std::string(const engine::ExperimentRecord&, sentences::Language)> waits_for;
    std::function<engine::Value(const engine::WorkerRecord&, sentences::Language, const Scope&)> worker;
    std::function<engine::Value(const Scope&, sentences::Language)> status;
  };
  /// Most rows of a message; if more changed, it has only their count.
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
    Bodies fresh;                   ///< Subscribers that need a full message.
    Bodies live;                    ///< Subscribers that have had one and get changes.
    std::set<std::uint64_t> dirty;  ///< Numbers of what changed; 0 stands for the only object of its topic.
    std::map<std::uint64_t, std::string> sent;  ///< Last sent values of what changes without events.
    std::chrono::steady_clock::time_point not_before;
    std::chrono::steady_clock::time_point look_at;  ///< When to check for changes without events.
  };

  void note(const engine::Event& event);
  void look();
  void look_for_silent_changes(const TopicName& name, Topic& topic);
  /// Sends the changes; returns whether there were any.
  bool send(const TopicName& name, Topic& topic);
  /// Whether followers of the topic may see the experiment.
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
