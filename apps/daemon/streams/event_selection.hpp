#pragma once

#include <bitset>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "daemon/access/scope.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::daemon {

/// The experiment of an event; null for events of workers.
[[nodiscard]] std::optional<engine::ExperimentId> experiment_of(const engine::EventBody& body);
[[nodiscard]] std::optional<engine::TrialNumber> trial_of(const engine::EventBody& body);

/// An event as clients see it: without a worker's uid, with which another process could impersonate it on an
/// open port. With a member `translated` if its sentences are others in the language.
[[nodiscard]] engine::Value shown(engine::Event event,
                                  sentences::Language language = sentences::Language::english);
/// shown() as a message of a stream.
[[nodiscard]] std::string stream_text(const engine::Event& event);

class ExperimentPlaces;

/// The events that a subscriber gets.
class EventSelection {
 public:
  /// Reads the query: experiment, trial, type and without, which are comma-separated lists of types.
  /// bad_request: a type is not known, or a trial has no experiment.
  [[nodiscard]] static engine::Result<EventSelection> of(const net::HttpRequest& request);

  /// Limits it to events that a caller with these workspaces may see.
  void limit_to(const Scope& scope, std::shared_ptr<const ExperimentPlaces> places);

  [[nodiscard]] bool takes(const engine::Event& event) const;

  friend bool operator==(const EventSelection&, const EventSelection&) = default;

 private:
  using Types = std::bitset<std::variant_size_v<engine::EventBody>>;

  std::optional<engine::ExperimentId> experiment_;
  std::optional<engine::TrialNumber> trial_;
  Types types_ = Types().set();
  Scope scope_;
  std::shared_ptr<const ExperimentPlaces> places_;  ///< Set if the scope has limits.
};

}  // namespace hpsearch::daemon
