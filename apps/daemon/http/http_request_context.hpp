#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/authentication.hpp"
#include "daemon/access/busy_connections.hpp"
#include "daemon/access/request_rates.hpp"
#include "daemon/api/parameter.hpp"
#include "daemon/http/http_answers.hpp"
#include "daemon/http/http_lanes.hpp"
#include "daemon/http/http_routes.hpp"
#include "daemon/metrics/http_counts.hpp"
#include "daemon/sessions/external_leases.hpp"
#include "daemon/streams/event_feed.hpp"
#include "daemon/streams/experiment_places.hpp"
#include "daemon/streams/open_streams.hpp"
#include "daemon/streams/stored_events.hpp"
#include "daemon/streams/topic_feed.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

// Names that all handlers use.
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;
using net::HttpResponse;

class PastStates;

// What the handlers of all routes share. One file per resource: http_<resource>_routes.cpp.

/// One request, and whom to answer.
struct Call {
  net::HttpRequest request;
  std::vector<std::uint64_t> numbers;  ///< What stands for the #s of the route's path.
  std::string digest;                  ///< What stands for its *.
  std::string token_id;                ///< What stands for its $.
  std::string word;                    ///< What stands for its %.
  net::HttpServer::Reply reply;
  Caller caller{};
  std::optional<AnsweredRequests::Name> name{};  ///< Of a change under an Idempotency-Key.
  bool is_done = false;  ///< It was carried out before: it is to be answered and nothing else.
  /// The route keeps its lane busy no longer. The reply does it, too; not set: it is in no lane.
  std::function<void()> leave_lane{};

  [[nodiscard]] engine::ExperimentId experiment() const { return engine::ExperimentId(numbers.at(0)); }
  [[nodiscard]] engine::WorkerId worker() const { return engine::WorkerId(numbers.at(0)); }
  [[nodiscard]] engine::TrialNumber trial() const { return engine::TrialNumber(numbers.at(1)); }

  /// The body, a JSON object; {} when there is none. bad_request: it is something else.
  [[nodiscard]] engine::Result<engine::Value> object() const;
};

/// What is sent as it happens.
struct Streams {
  Streams(Runtime& runtime, net::Loop& loop, OpenStreams::MayRead may_read, TopicFeed::Values values)
      : open(loop, std::move(may_read)),
        stored(runtime),
        events(runtime, stored, loop),
        topics(runtime, stored, std::move(values)),
        places(std::make_shared<ExperimentPlaces>()),
        new_places(ExperimentPlaces::fill(places, runtime)) {}

  OpenStreams open;
  StoredEvents stored;
  EventFeed events;
  TopicFeed topics;
  std::shared_ptr<ExperimentPlaces> places;
  net::Watch new_places;
};

/// Where handlers work. Nothing leaves it that a crash could take back.
struct RequestContext {
  Runtime& runtime;
  WorkerSessions& sessions;
  AboutDaemon about;
  std::shared_ptr<PastStates> past{};  ///< Always there.
  HttpCounts http_counts{};
  RequestRates rates{};
  BusyConnections connections{};
  std::unique_ptr<Streams> streams{};                   ///< Always there.
  std::unique_ptr<Lanes> lanes{};                       ///< Always there.
  std::unique_ptr<net::Background> reads{};             ///< Always there: it spells long answers.
  std::unique_ptr<net::Background> checkpoint_reads{};  ///< Always there: their storage may be slow.
  std::unique_ptr<ExternalLeases> leases{};             ///< Always there.

  /// Answers from the engine's memory, once what it shows is durable.
  void answer(const Call& call, net::HttpResponse response);
  void answer(const Call& call, const engine::Result<engine::Value>& value);

  /// The same where the answer takes long to spell: `make` runs beside the loop, and uses nothing that
  /// changes.
  void answer_beside(const Call& call, std::function<net::HttpResponse()> make);

  /// Runs `then` when everything the engine shows now is durable; answers itself if nothing can be stored.
  void when_durable(const Call& call, std::function<void()> then);

  /// Answers from the store.
  void read(const Call& call, std::function<Committer::Then(EventStore&)> job);

  /// Shows what the command changed as it is then; refused while there is no room to store anything. A call
  /// that is done is only shown.
  void perform(const Call& call, engine::Command command, std::function<net::HttpResponse()> shown);
  void perform(engine::Command command, Runtime::Answer answer,
               std::optional<AnsweredRequests::Name> name = {});
  /// Shows what the command came to as that is right after it, once it is durable.
  void perform_and_show(const Call& call, engine::Command command,
                        std::function<net::HttpResponse(const Runtime::Outcome&)> show);

  /// not_found: there is none of this number, or, if the caller may know, it was deleted.
  [[nodiscard]] engine::Error missing(const Caller& caller, engine::ExperimentId id) const;

  /// Those that the path names. not_found: there is no such thing.
  [[nodiscard]] engine::Result<const engine::ExperimentRecord*> experiment(const Call& call) const;
  [[nodiscard]] engine::Result<const engine::ExperimentRecord*> experiment_with_trial(const Call& call) const;
};

/// The schema of an answer or a body: api::schema_of<T>.
using JsonSchema = engine::Value (*)(engine::Value::Map& named);

/// What the description of the API says about a route (api/openapi.hpp).
struct Operation {
  std::string_view
      id;  ///< "list_trials"; "" = only workers or browsers use the route, and it is not described.
  std::string_view tag;       ///< "trials": what it is about.
  std::string_view summary;   ///< One line.
  JsonSchema answer;          ///< Of its JSON; nullptr = not JSON, or nothing.
  JsonSchema body = nullptr;  ///< The same for the body.
  unsigned success = 200;
  std::string_view answer_type{};  ///< "" = application/json; several: "text/csv, …".
  std::string_view body_type{};    ///< "" = application/json, where there is a body.
  bool takes_yaml = false;         ///< The body may be an experiment file, application/yaml.
  unsigned not_yet = 0;            ///< Another status with the same answer, which is not final; 0 = none.
};
inline constexpr Operation only_for_workers{"", "", "", nullptr};
inline constexpr Operation only_for_browsers{"", "", "", nullptr};

/// For which workspaces a caller needs the role of a route.
enum class Reach : std::uint8_t {
  /// Below /experiments/{experiment}: that of the experiment, which a submitter changes only if it is its
  /// own. Elsewhere
  /// any one, but all of them where operators or admins are needed.
  usual,
  any_experiment,  ///< That of the experiment, also if it belongs to others: the route changes nothing.
  all,             ///< All of them.
};

struct Route {
  std::string_view method;
  std::string_view path;  ///< With placeholders, as in OpenAPI: "/api/v1/workers/{worker}" (route_path.hpp).
  Role least;             ///< Who may use it.
  void (*handler)(RequestContext& context, Call call);
  Operation about;
  std::span<const QueryParameter> query{};  ///< Any other one is refused.
  /// A change under an Idempotency-Key is carried out once (http_repeats.hpp). False: the handler looks at
  /// the key itself, changes nothing, or sets a cookie, which is given to one browser once.
  bool keeps_answer = true;
  Reach reach = Reach::usual;
  Queued queued{};
};

/// The path of all addresses that are pages for people (Pages::is_page).
inline constexpr std::string_view page_paths = "/{page}";
/// Of a route that takes whatever stands in the query.
inline constexpr QueryParameter any_query[] = {{"*", QueryParameter::Kind::text, "Anything."}};

[[nodiscard]] std::array<std::span<const Route>, 22> all_routes() noexcept;
[[nodiscard]] std::span<const Route> access_routes() noexcept;
[[nodiscard]] std::span<const Route> ask_routes() noexcept;
[[nodiscard]] std::span<const Route> bulk_routes() noexcept;
[[nodiscard]] std::span<const Route> checkpoint_routes() noexcept;
[[nodiscard]] std::span<const Route> context_routes() noexcept;
[[nodiscard]] std::span<const Route> curve_routes() noexcept;
[[nodiscard]] std::span<const Route> daemon_routes() noexcept;
[[nodiscard]] std::span<const Route> experiment_change_routes() noexcept;
[[nodiscard]] std::span<const Route> experiment_list_routes() noexcept;
[[nodiscard]] std::span<const Route> experiment_routes() noexcept;
[[nodiscard]] std::span<const Route> export_routes() noexcept;
[[nodiscard]] std::span<const Route> file_routes() noexcept;
[[nodiscard]] std::span<const Route> kept_routes() noexcept;
[[nodiscard]] std::span<const Route> log_routes() noexcept;
[[nodiscard]] std::span<const Route> page_routes() noexcept;
[[nodiscard]] std::span<const Route> session_routes() noexcept;
[[nodiscard]] std::span<const Route> stream_routes() noexcept;
[[nodiscard]] std::span<const Route> submission_routes() noexcept;
[[nodiscard]] std::span<const Route> trial_routes() noexcept;
[[nodiscard]] std::span<const Route> usage_routes() noexcept;
[[nodiscard]] std::span<const Route> worker_routes() noexcept;
[[nodiscard]] std::span<const Route> workspace_routes() noexcept;

/// As is answered where there is none, or the caller may not see it.
[[nodiscard]] engine::Error no_experiment(engine::ExperimentId id);
/// Whether it is in a workspace of the caller.
[[nodiscard]] bool may_see(const Caller& caller, const engine::ExperimentRecord& record);

// Values as more than one route shows them: from the engine's memory, and what is known beyond the log.
[[nodiscard]] engine::Value summary_now(const RequestContext& context,
                                        const engine::ExperimentRecord& record);
[[nodiscard]] engine::Value detail_now(const RequestContext& context, const engine::ExperimentRecord& record);
/// Its ETag: of its state, limits and program.
[[nodiscard]] std::string tag_of(const RequestContext& context, engine::ExperimentId experiment);
/// Why none of its trials runs; "" if one does.
[[nodiscard]] std::string waits_for(const RequestContext& context, const engine::ExperimentRecord& record);
/// Without what it runs for experiments outside of the scope.
[[nodiscard]] engine::Value worker_now(const RequestContext& context, const engine::WorkerRecord& record,
                                       const Scope& scope = {});
/// Without experiments outside of the scope.
[[nodiscard]] engine::Value status_now(const RequestContext& context, const Scope& scope);

/// Whether the caller may read that context and run it: it brought it itself, or an experiment that it sees
/// names it. A digest alone opens nothing of other workspaces.
[[nodiscard]] bool may_use_context(const RequestContext& context, const Caller& caller,
                                   const std::string& digest);
/// Bytes of the context of that digest. wrong_state: the daemon does not have it, or not for this caller.
[[nodiscard]] engine::Result<std::uint64_t> context_bytes(const RequestContext& context, const Caller& caller,
                                                          const std::string& digest);

/// For what cannot be taken for lack of room.
[[nodiscard]] net::HttpResponse no_room(const Storage& storage);

[[nodiscard]] bool is_yaml(const net::HttpRequest& request) noexcept;

/// A body that is a JSON object; {} for "". bad_request: it is something else.
[[nodiscard]] engine::Result<engine::Value> json_object(const std::string& body);

[[nodiscard]] engine::Value integer(std::uint64_t number);

/// The first of these results that is an error; null = there is none.
template <class... Results>
[[nodiscard]] const Error* first_error(const Results&... results) {
  const Error* first = nullptr;
  static_cast<void>((... || (!results && (first = &results.error()) != nullptr)));
  return first;
}

/// A number of the query; `otherwise` when it is absent.
[[nodiscard]] engine::Result<std::uint64_t> number_of(const net::HttpRequest& request, std::string_view name,
                                                      std::uint64_t otherwise);
[[nodiscard]] std::optional<std::uint64_t> read_number(std::string_view text);
/// A finite decimal number.
[[nodiscard]] std::optional<double> read_real(std::string_view text);

}  // namespace hpsearch::daemon
