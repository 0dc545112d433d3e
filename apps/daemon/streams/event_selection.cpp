#include "daemon/streams/event_selection.hpp"

#include <array>
#include <string>
#include <utility>

#include "daemon/http/http_request_context.hpp"
#include "daemon/streams/experiment_places.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/http/event_stream.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;

constexpr std::size_t count_of_types = std::variant_size_v<engine::EventBody>;

template <std::size_t... Places>
std::array<std::string_view, count_of_types> names_of_types(std::index_sequence<Places...>) {
  return {proto::type_of(engine::EventBody(std::in_place_index<Places>))...};
}

const std::array<std::string_view, count_of_types>& type_names() {
  static const auto names = names_of_types(std::make_index_sequence<count_of_types>());
  return names;
}

engine::Result<std::bitset<count_of_types>> read_types(std::string_view parameter, std::string_view list) {
  std::bitset<count_of_types> types;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const auto found = std::find(type_names().begin(), type_names().end(), name);
    if (found == type_names().end()) {
      const std::string nearest(engine::nearest(name, type_names()));
      return Error{Errc::bad_request,
                   std::string(parameter) + " is \"" + std::string(name) +
                       "\"; it has to be a type of event" +
                       (nearest.empty() ? ", for example trial_ended" : ", for example " + nearest)};
    }
    types.set(static_cast<std::size_t>(found - type_names().begin()));
  }
  return types;
}

}  // namespace

std::optional<engine::ExperimentId> experiment_of(const engine::EventBody& body) {
  return std::visit(
      [](const auto& event) -> std::optional<engine::ExperimentId> {
        if constexpr (requires { event.key.experiment; }) {
          return event.key.experiment;
        } else if constexpr (requires { event.experiment; }) {
          return event.experiment;
        } else {
          return std::nullopt;
        }
      },
      body);
}

std::optional<engine::TrialNumber> trial_of(const engine::EventBody& body) {
  return std::visit(
      [](const auto& event) -> std::optional<engine::TrialNumber> {
        if constexpr (requires { event.key.experiment; }) {
          return event.key.trial;
        } else if constexpr (requires { event.trial; }) {
          return event.trial;
        } else {
          return std::nullopt;
        }
      },
      body);
}

engine::Value shown(engine::Event event, sentences::Language language) {
  if (auto* joined = std::get_if<engine::WorkerJoined>(&event.body)) {
    joined->uid.clear();
  }
  engine::Value value = proto::to_value(event);
  if (auto translated = sentences::sentences_in(language, *value.as_map()); !translated.empty()) {
    (*value.as_map())["translated"] = std::move(translated);
  }
  return value;
}

std::string stream_text(const engine::Event& event) {
  return net::message_text(std::to_string(event.lsn.number()), proto::type_of(event.body),
                           engine::compact_json(shown(event)));
}

engine::Result<EventSelection> EventSelection::of(const net::HttpRequest& request) {
  EventSelection selection;
  const auto experiment = number_of(request, "experiment", 0);
  const auto trial = number_of(request, "trial", 0);
  for (const auto* number : {&experiment, &trial}) {
    if (!*number) {
      return number->error();
    }
  }
  if (!request.query_or("experiment", {}).empty()) {
    selection.experiment_ = engine::ExperimentId(*experiment);
  }
  if (!request.query_or("trial", {}).empty()) {
    if (!selection.experiment_) {
      return Error{Errc::bad_request, "trial needs experiment: trials are numbered within their experiment"};
    }
    selection.trial_ = engine::TrialNumber(*trial);
  }
  const auto types = read_types("type", request.query_or("type", {}));
  const auto without = read_types("without", request.query_or("without", {}));
  for (const auto* list : {&types, &without}) {
    if (!*list) {
      return list->error();
    }
  }
  if (types->any()) {
    selection.types_ = *types;
  }
  selection.types_ &= ~*without;
  return selection;
}

void EventSelection::limit_to(const Scope& scope, std::shared_ptr<const ExperimentPlaces> places) {
  scope_ = scope;
  places_ = scope.is_all() ? nullptr : std::move(places);
}

bool EventSelection::takes(const engine::Event& event) const {
  return types_.test(event.body.index()) && (!experiment_ || experiment_of(event.body) == experiment_) &&
         (!trial_ || trial_of(event.body) == trial_) &&
         (places_ == nullptr || places_->shows(scope_, event.body));
}

}  // namespace hpsearch::daemon
