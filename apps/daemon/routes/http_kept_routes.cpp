// Routes on which workers upload logs of attempts, and files that programs left.

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/blobs/kept_store.hpp"
#include "daemon/blobs/log_places.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/wire/utilization.hpp"

namespace hpsearch::daemon {
namespace {

/// The worker whose session has the key of the request, if the daemon can store what it sends.
std::optional<engine::WorkerId> sender_of(RequestContext& context, const Call& call) {
  if (context.about.kept == nullptr) {
    call.reply(failure(Error{Errc::not_found, "this daemon keeps neither logs nor files"}));
    return std::nullopt;
  }
  const auto worker = context.sessions.worker_of_http_key(bearer_of(call.request));
  if (!worker) {
    call.reply(failure(Error{Errc::bad_request,
                             "logs and files are taken from the worker that has them: show the key of its "
                             "session"}));
  } else if (context.runtime.storage().intake != Intake::everything) {
    call.reply(no_room(context.runtime.storage()));
    return std::nullopt;
  }
  return worker;
}

/// Like sender_of(), if files are kept.
std::optional<engine::WorkerId> sender_of_files(RequestContext& context, const Call& call) {
  if (context.about.kept != nullptr && !context.about.kept->keeps_files()) {
    call.reply(failure(Error{Errc::not_found, "this daemon keeps no files (hpsearchd --no-kept-files)"}));
    return std::nullopt;
  }
  return sender_of(context, call);
}

/// Calls `take` with the attempt that the request names, and with the place where the worker ran it. Refuses
/// the request if the worker did not run it.
void take_from(engine::WorkerId worker, RequestContext& context, const Call& call,
               std::function<void(const engine::AttemptKey&, const engine::Place&)> take) {
  const auto lease = number_of(call.request, "lease", 0);
  if (!lease) {
    call.reply(failure(lease.error()));
    return;
  }
  if (const auto record = context.experiment_with_trial(call); !record) {
    context.answer(call, failure(record.error()));
    return;
  }
  const engine::AttemptKey key{call.experiment(), call.trial(), engine::AttemptNumber(call.numbers.at(2)),
                               engine::LeaseId(*lease)};
  context.read(call,
               [reply = call.reply, key, worker, take = std::move(take),
                numbering = context.runtime.engine().numbering()](EventStore& store) -> Committer::Then {
                 return [reply, key, worker, take, place = place_of(store, numbering, key, worker)] {
                   if (place) {
                     take(key, *place);
                   } else {
                     reply(refusal(403, "worker " + std::to_string(worker.number()) +
                                            " did not run attempt " + engine::label_of(key)));
                   }
                 };
               });
}

constexpr std::string_view taken_streams[] = {"stdout", "stderr", proto::utilization_stream};

void take_log(RequestContext& context, Call call) {
  const auto worker = sender_of(context, call);
  if (!worker) {
    return;
  }
  const auto process = number_of(call.request, "process", 0);
  const std::string stream(call.request.query_or("stream", "stdout"));
  if (!process ||
      std::find(std::begin(taken_streams), std::end(taken_streams), stream) == std::end(taken_streams)) {
    call.reply(failure(process ? Error{Errc::bad_request, "stream has to be stdout, stderr or utilization"}
                               : process.error()));
    return;
  }
  take_from(*worker, context, call,
            [&context, call, worker = *worker, process = *process, stream](const engine::AttemptKey& key,
                                                                           const engine::Place& place) {
              if (process >= std::max<std::size_t>(place.slots.size(), 1)) {
                call.reply(refusal(403, "worker " + std::to_string(worker.number()) +
                                            " had no such process of attempt " + engine::label_of(key)));
                return;
              }
              context.about.kept->take_log(
                  {key, worker, process, stream}, call.request,
                  [reply = call.reply](const engine::Status& taken) {
                    reply(taken ? with(201, Value::Map{{"kept", true}}) : failure(taken.error()));
                  });
            });
}

Value taken_value(const KeptStore::Taken& taken) {
  Value::List missing;
  for (const KeptStore::Missing& content : taken.missing) {
    missing.emplace_back(Value::Map{
        {"digest", content.digest}, {"bytes", integer(content.bytes)}, {"have", integer(content.have)}});
  }
  return Value::Map{{"kept", taken.missing.empty() && taken.why_not.empty()},
                    {"missing", std::move(missing)},
                    {"why_not", taken.why_not}};
}

/// A worker lists the files that it has of a trial.
void offer(RequestContext& context, Call call) {
  const auto worker = sender_of_files(context, call);
  if (!worker) {
    return;
  }
  const auto body = call.object();
  const auto offered =
      body ? proto::decode_value<proto::FileOffer>(*body) : Result<proto::FileOffer>(body.error());
  if (!offered) {
    call.reply(failure(Error{Errc::bad_request, offered.error().message}));
    return;
  }
  take_from(*worker, context, call,
            [&context, reply = call.reply, worker = *worker, offered = *offered](
                const engine::AttemptKey& key, const engine::Place&) {
              context.about.kept->offer(
                  {key.experiment, key.trial, worker}, key.attempt, offered,
                  [reply](const Result<KeptStore::Taken>& taken) {
                    reply(taken ? with(200, taken_value(*taken)) : failure(taken.error()));
                  });
            });
}

/// A piece of a file that the worker has offered.
void take_piece(RequestContext& context, Call call) {
  const auto worker = sender_of_files(context, call);
  const auto offset = number_of(call.request, "offset", 0);
  if (!worker || !offset) {
    if (worker) {
      call.reply(failure(offset.error()));
    }
    return;
  }
  context.about.kept->add_piece(
      {call.experiment(), call.trial(), *worker}, call.digest, *offset, call.request,
      [reply = call.reply](const Result<std::uint64_t>& have) {
        reply(have ? with(200, Value::Map{{"have", integer(*have)}}) : failure(have.error()));
      });
}

constexpr QueryParameter lease_parameter{"lease", QueryParameter::Kind::whole_number, "Of the attempt."};
constexpr QueryParameter taken_log_query[] = {
    lease_parameter,
    {"process", QueryParameter::Kind::whole_number, "On the worker."},
    {"stream", QueryParameter::Kind::choice, "stdout, if it is not given.", 0, 0, taken_streams},
};
constexpr QueryParameter offer_query[] = {lease_parameter};
constexpr QueryParameter piece_query[] = {
    {"offset", QueryParameter::Kind::whole_number, "Of the first byte."}};

constexpr Route kept_table[] = {
    {"PUT", "/api/v1/logs/{experiment}/{trial}/{attempt}", Role::worker, &take_log, only_for_workers,
     taken_log_query},
    {"PUT", "/api/v1/files/{experiment}/{trial}/{attempt}", Role::worker, &offer, only_for_workers,
     offer_query},
    {"PUT", "/api/v1/files/{experiment}/{trial}/{digest}", Role::worker, &take_piece, only_for_workers,
     piece_query},
};

}  // namespace

std::span<const Route> kept_routes() noexcept {
  return kept_table;
}

}  // namespace hpsearch::daemon
