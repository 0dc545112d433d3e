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
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::daemon {

// Names that all handlers use.
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;
using net::HttpResponse;
using sentences::Language;

class PastStates;

// Shared by the handlers of all routes. One file per resource: http_<resource>_routes.cpp.

/// One request, and where its response goes.
struct Call {
  net::HttpRequest request;
  std::vector<std::uint64_t> numbers;  ///< Values of the path's placeholders for numbers.
  std::string digest;                  ///< Value of the placeholder for a digest.
  std::string token_id;                ///< Value of the placeholder for a token's id.
  std::string word;                    ///< Value of the placeholder for a name.
  net::HttpServer::Reply reply;
  Caller caller{};
  std::optional<AnsweredRequests::Name> name{};  ///< Name of a change with an Idempotency-Key.
  bool is_done = false;                          ///< It was carried out before: it must only be answered.
  /// Releases the route's lane early. The reply releases it, too; not set: it is in no lane.
  std::function<void()> leave_lane{};

  [[nodiscard]] engine::ExperimentId experiment() const { return engine::ExperimentId(numbers.at(0)); }
  [[nodiscard]] engine::WorkerId worker() const { return engine::WorkerId(numbers.at(0)); }
  [[nodiscard]] engine::TrialNumber trial() const { return engine::TrialNumber(numbers.at(1)); }

  /// The body, a JSON object; {} if there is none. bad_request: it is something else.
  [[nodiscard]] engine::Result<engine::Value> object() const;
  /// The language of the answer's sentences. Refusals are in English.
  [[nodiscard]] Language language() const noexcept {
    return sentences::language_for(request.header("Accept-Language"));
  }
};

/// Open streams, which send changes as they happen.
struct Streams {
  Streams(Runtime& runtime, net::Loop& loop, OpenStreams::MayRead may_read, TopicFeed::Values values)
      : open(loop, std::move(may_read)),
        events(runtime, runtime.stored_events(), loop),
        topics(runtime, runtime.stored_events(), std::move(values)),
        places(std::make_shared<ExperimentPlaces>()),
        new_places(ExperimentPlaces::fill(places, runtime)) {}

  OpenStreams open;
  EventFeed events;
  TopicFeed topics;
  std::shared_ptr<ExperimentPlaces> places;
  net::Watch new_places;
};

/// The environment of handlers. They answer only what a crash cannot undo.
struct RequestContext {
  Runtime& runtime;
  WorkerSessions& sessions;
  AboutDaemon about;
  std::shared_ptr<PastStates> past{};  ///< Never null.
  HttpCounts http_counts{};
  RequestRates rates{};
  BusyConnections connections{};
  std::unique_ptr<Streams> streams{};                   ///< Never null.
  std::unique_ptr<Lanes> lanes{};                       ///< Never null.
  std::unique_ptr<net::Background> reads{};             ///< Never null: encodes long answers.
  std::unique_ptr<net::Background> checkpoint_reads{};  ///< Never null: the storage of checkpoints may be
                                                        ///< slow.
  std::unique_ptr<ExternalLeases> leases{};             ///< Never null.
  std::unique_ptr<net::Background> sign_ins{};          ///< Never null: an OpenID provider may be slow.
  std::size_t signing_in = 0;                           ///< Number of tasks of sign_ins.

  /// Answers from the engine's memory, once everything that the response shows is durable.
  void answer(const Call& call, net::HttpResponse response);
  void answer(const Call& call, const engine::Result<engine::Value>& value);

  /// Like answer(), for a response that takes long to encode: `make` runs beside the loop, and uses nothing
  /// that changes.
  void answer_beside(const Call& call, std::function<net::HttpResponse()> make);

  /// Runs `then` when everything that the engine shows now is durable; answers the call if nothing can be
  /// stored.
  void when_durable(const Call& call, std::function<void()> then);

  /// Answers from the store.
  void read(const Call& call, std::function<Committer::Then(EventStore&)> job);

  /// Performs the command and answers with `show` as of the commit; refuses it while there is no room to
  /// store anything. If the call is done, it is only shown.
  void perform(const Call& call, engine::Command command, std::function<net::HttpResponse()> shown);
  void perform(engine::Command command, Runtime::Answer answer,
               std::optional<AnsweredRequests::Name> name = {});
  /// Performs the command and answers with `show` as of right after it, once it is durable.
  void perform_and_show(const Call& call, engine::Command command,
                        std::function<net::HttpResponse(const Runtime::Outcome&)> show);

  /// not_found: there is no such experiment, or, if the caller may know, it was deleted.
  [[nodiscard]] engine::Error missing(const Caller& caller, engine::ExperimentId id) const;

  /// The object that the path names. not_found: there is none.
  [[nodiscard]] engine::Result<const engine::ExperimentRecord*> experiment(const Call& call) const;
  [[nodiscard]] engine::Result<const engine::ExperimentRecord*> experiment_with_trial(const Call& call) const;
};

/// The schema of an answer or a body: api::schema_of<T>.
using JsonSchema = engine::Value (*)(engine::Value::Map& named);

/// The part of the API's description about a route (api/openapi.hpp).
struct Operation {
  std::string_view
      id;  ///< "list_trials"; "" = only workers or browsers use the route, and it is not described.
  std::string_view tag;       ///< Its resource: "trials".
  std::string_view summary;   ///< One line.
  JsonSchema answer;          ///< Schema of its JSON; nullptr = not JSON, or nothing.
  JsonSchema body = nullptr;  ///< Schema of the body, likewise.
  unsigned success = 200;
  std::string_view answer_type{};  ///< "" = application/json; several: "text/csv, …".
  std::string_view body_type{};    ///< "" = application/json, if there is a body.
  bool takes_yaml = false;         ///< The body may be an experiment file, application/yaml.
  unsigned not_yet = 0;            ///< Another status with the same answer, which is not final; 0 = none.
};
inline constexpr Operation only_for_workers{"", "", "", nullptr};
inline constexpr Operation only_for_browsers{"", "", "", nullptr};

/// The workspaces for which a caller needs the role of a route.
enum class Reach : std::uint8_t {
  /// Below /experiments/{experiment}: that of the experiment, which a submitter changes only if it is its
  /// own. Elsewhere any workspace, but all of them if operators or admins are needed.
  usual,
  any_experiment,  ///< That of the experiment, also if another user owns it: the route changes nothing.
  all,             ///< All of them.
};

struct Route {
  std::string_view method;
  std::string_view path;  ///< With placeholders, as in OpenAPI: "/api/v1/workers/{worker}" (route_path.hpp).
  Role least;             ///< The least role that may use it.
  void (*handler)(RequestContext& context, Call call);
  Operation about;
  std::span<const QueryParameter> query{};  ///< Other parameters are refused.
  /// A change with an Idempotency-Key is carried out once (http_repeats.hpp). False: the handler checks the
  /// key itself, changes nothing, or sets a cookie, which only one browser may get.
  bool keeps_answer = true;
  Reach reach = Reach::usual;
  Queued queued{};
};

/// The path of all addresses that are pages for people (Pages::is_page).
inline constexpr std::string_view page_paths = "/{page}";
/// For a route that accepts any query.
inline constexpr QueryParameter any_query[] = {{"*", QueryParameter::Kind::text, "Anything."}};

[[nodiscard]] std::array<std::span<const Route>, 25> all_routes() noexcept;
[[nodiscard]] std::span<const Route> access_routes() noexcept;
[[nodiscard]] std::span<const Route> annotation_routes() noexcept;
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
[[nodiscard]] std::span<const Route> invite_routes() noexcept;
[[nodiscard]] std::span<const Route> kept_routes() noexcept;
[[nodiscard]] std::span<const Route> log_routes() noexcept;
[[nodiscard]] std::span<const Route> page_routes() noexcept;
[[nodiscard]] std::span<const Route> queue_routes() noexcept;
[[nodiscard]] std::span<const Route> session_routes() noexcept;
[[nodiscard]] std::span<const Route> stream_routes() noexcept;
[[nodiscard]] std::span<const Route> submission_routes() noexcept;
[[nodiscard]] std::span<const Route> trial_routes() noexcept;
[[nodiscard]] std::span<const Route> usage_routes() noexcept;
[[nodiscard]] std::span<const Route> worker_routes() noexcept;
[[nodiscard]] std::span<const Route> workspace_routes() noexcept;

/// The error if there is none, or if the caller may not see it.
[[nodiscard]] engine::Error no_experiment(engine::ExperimentId id);
/// Whether it is in a workspace of the caller.
[[nodiscard]] bool may_see(const Caller& caller, const engine::ExperimentRecord& record);

// Objects as several routes show them: from the engine's memory, with data that is not in the log.
[[nodiscard]] engine::Value summary_now(const RequestContext& context, const engine::ExperimentRecord& record,
                                        Language language);
[[nodiscard]] engine::Value detail_now(const RequestContext& context, const engine::ExperimentRecord& record,
                                       Language language);
/// Its ETag, of its state, limits and program.
[[nodiscard]] std::string tag_of(const RequestContext& context, engine::ExperimentId experiment);
/// Why none of its trials runs; "" if one does.
[[nodiscard]] std::string waits_for(const RequestContext& context, const engine::ExperimentRecord& record,
                                    Language language);
/// Leaves out what it runs for experiments outside of the scope.
[[nodiscard]] engine::Value worker_now(const RequestContext& context, const engine::WorkerRecord& record,
                                       Language language, const Scope& scope = {});
/// Leaves out experiments outside of the scope.
[[nodiscard]] engine::Value status_now(const RequestContext& context, const Scope& scope, Language language);

/// Whether the caller may read and run that context: it uploaded it itself, or an experiment that it sees
/// names it. A digest alone gives no access to contexts of other workspaces.
[[nodiscard]] bool may_use_context(const RequestContext& context, const Caller& caller,
                                   const std::string& digest);
/// Size of the context with that digest. wrong_state: the daemon does not have it, or not for this caller.
[[nodiscard]] engine::Result<std::uint64_t> context_bytes(const RequestContext& context, const Caller& caller,
                                                          const std::string& digest);

/// The response to a request that cannot be accepted for lack of room.
[[nodiscard]] net::HttpResponse no_room(const Storage& storage);

[[nodiscard]] bool is_yaml(const net::HttpRequest& request) noexcept;

/// A body that is a JSON object; {} for "". bad_request: it is something else.
[[nodiscard]] engine::Result<engine::Value> json_object(const std::string& body);

[[nodiscard]] engine::Value integer(std::uint64_t number);

/// The first of these results that is an error; null if there is none.
template <class... Results>
[[nodiscard]] const Error* first_error(const Results&... results) {
  const Error* first = nullptr;
  static_cast<void>((... || (!results && (first = &results.error()) != nullptr)));
  return first;
}

/// A number of the query; `otherwise` if it is absent.
[[nodiscard]] engine::Result<std::uint64_t> number_of(const net::HttpRequest& request, std::string_view name,
                                                      std::uint64_t otherwise);
[[nodiscard]] std::optional<std::uint64_t> read_number(std::string_view text);
/// A finite decimal number.
[[nodiscard]] std::optional<double> read_real(std::string_view text);

}  // namespace hpsearch::daemon
