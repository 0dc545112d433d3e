#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/blobs/kept_files.hpp"
#include "daemon/blobs/log_places.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

bool keeps_files(RequestContext& context, const Call& call) {
  if (context.about.files != nullptr && context.about.files->keeps()) {
    return true;
  }
  call.reply(failure(Error{Errc::not_found, "this daemon keeps no files (hpsearchd --files-quota)"}));
  return false;
}

/// The worker whose session has the key of the request, where something can be stored for it.
std::optional<engine::WorkerId> sender_of(RequestContext& context, const Call& call) {
  if (!keeps_files(context, call)) {
    return std::nullopt;
  }
  const auto worker = context.sessions.worker_of_http_key(bearer_of(call.request));
  if (!worker) {
    call.reply(failure(Error{
        Errc::bad_request, "files are taken from the worker that keeps them: show the key of its session"}));
  } else if (context.runtime.storage().intake != Intake::everything) {
    call.reply(no_room(context.runtime.storage()));
    return std::nullopt;
  }
  return worker;
}

Value taken_value(const KeptFiles::Taken& taken) {
  Value::List missing;
  for (const KeptFiles::Missing& content : taken.missing) {
    missing.emplace_back(Value::Map{
        {"digest", content.digest}, {"bytes", integer(content.bytes)}, {"have", integer(content.have)}});
  }
  return Value::Map{{"kept", taken.missing.empty() && taken.why_not.empty()},
                    {"missing", std::move(missing)},
                    {"why_not", taken.why_not}};
}

/// A worker tells what it has of a trial.
void offer(RequestContext& context, Call call) {
  const auto worker = sender_of(context, call);
  if (!worker) {
    return;
  }
  const auto lease = number_of(call.request, "lease", 0);
  const auto body = call.object();
  const auto offered =
      body ? proto::decode_value<proto::FileOffer>(*body) : Result<proto::FileOffer>(body.error());
  if (!lease || !offered) {
    call.reply(failure(Error{Errc::bad_request, !lease ? lease.error().message : offered.error().message}));
    return;
  }
  if (const auto record = context.experiment_with_trial(call); !record) {
    context.answer(call, failure(record.error()));
    return;
  }
  const engine::AttemptKey key{call.experiment(), call.trial(), engine::AttemptNumber(call.numbers.at(2)),
                               engine::LeaseId(*lease)};
  context.read(
      call,
      [&context, call, key, worker = *worker, offered = std::make_shared<const proto::FileOffer>(*offered),
       numbering = context.runtime.engine().numbering()](EventStore& store) -> Committer::Then {
        const auto places = places_of(store, numbering, key.experiment, key.trial, key.attempt.number());
        const bool ran_there =
            places && places->on(worker) != nullptr && engine::label_of(places->key) == engine::label_of(key);
        return [&context, call, key, worker, offered, ran_there] {
          if (!ran_there) {
            call.reply(refusal(403, "worker " + std::to_string(worker.number()) + " did not run attempt " +
                                        engine::label_of(key)));
            return;
          }
          context.about.files->offer({key.experiment, key.trial, worker}, key.attempt, *offered,
                                     [reply = call.reply](const Result<KeptFiles::Taken>& taken) {
                                       reply(taken ? with(200, taken_value(*taken)) : failure(taken.error()));
                                     });
        };
      });
}

/// A body of this type is a file where uploads go to the disk, and in memory elsewhere.
Result<std::string> piece_in(const net::HttpRequest& request) {
  if (request.uploaded == nullptr) {
    return request.body;
  }
  const std::filesystem::path path = request.uploaded->path();
  const auto place = files::Directory::open(path.parent_path());
  return place ? place->read(path.filename(), proto::most_piece_bytes) : place.error();
}

void take_piece(RequestContext& context, Call call) {
  const auto worker = sender_of(context, call);
  if (!worker) {
    return;
  }
  const auto offset = number_of(call.request, "offset", 0);
  const auto piece = piece_in(call.request);
  if (const Error* error = first_error(offset, piece)) {
    call.reply(failure(*error));
    return;
  }
  context.about.files->add_piece(
      {call.experiment(), call.trial(), *worker}, call.digest, *offset, *piece,
      [reply = call.reply](const Result<std::uint64_t>& have) {
        reply(have ? with(200, Value::Map{{"have", integer(*have)}}) : failure(have.error()));
      });
}

void list(RequestContext& context, Call call) {
  const auto record = context.experiment(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  if (!keeps_files(context, call)) {
    return;
  }
  context.about.files->list(
      call.experiment(), [reply = call.reply](const std::vector<KeptFiles::Summary>& all) {
        Value::List trials;
        for (const KeptFiles::Summary& one : all) {
          trials.emplace_back(Value::Map{{"trial", integer(one.set.trial.number())},
                                         {"worker", integer(one.set.worker.number())},
                                         {"attempt", integer(one.attempt.number())},
                                         {"files", integer(one.files)},
                                         {"bytes", integer(one.bytes)},
                                         {"left", integer(one.left)},
                                         {"metric", one.metric ? Value(*one.metric) : Value()}});
        }
        reply(with(200, Value::Map{{"trials", std::move(trials)}}));
      });
}

void add_named(Value::List& to, const proto::DroppedFiles& files, engine::WorkerId worker) {
  for (const proto::DroppedFile& file : files.files) {
    to.emplace_back(Value::Map{{"path", file.path},
                               {"bytes", integer(file.bytes)},
                               {"why", file.why},
                               {"worker", integer(worker.number())}});
  }
}

/// What is in the way of the path: a file of its name or in the place of a directory of it, or files below.
void make_way(std::map<std::string, Value>& files, const std::string& path) {
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    files.erase(path.substr(0, end));
  }
  files.erase(files.lower_bound(path + "/"), files.lower_bound(path + "0"));  // '0' follows '/'.
}

/// Of several workers, the files of later attempts count.
Value trial_value(const KeptFiles::Lists& lists) {
  std::map<std::string, Value> files;
  Value::List dropped;
  Value::List left;
  std::uint64_t dropped_unnamed = 0;
  std::uint64_t left_unnamed = 0;
  for (const auto& [worker, stored] : lists) {
    for (const proto::OfferedFile& file : stored.offer.files) {
      make_way(files, file.path);
      files[file.path] = Value::Map{{"path", file.path},     {"bytes", integer(file.bytes)},
                                    {"digest", file.digest}, {"executable", file.executable},
                                    {"link", file.link},     {"worker", integer(worker.number())}};
    }
    add_named(dropped, stored.offer.dropped, worker);
    add_named(left, stored.offer.left, worker);
    dropped_unnamed += stored.offer.dropped.unnamed;
    left_unnamed += stored.offer.left.unnamed;
  }
  Value::List all;
  for (auto& [path, file] : files) {
    all.push_back(std::move(file));
  }
  return Value::Map{{"files", std::move(all)},
                    {"dropped", std::move(dropped)},
                    {"dropped_unnamed", integer(dropped_unnamed)},
                    {"left", std::move(left)},
                    {"left_unnamed", integer(left_unnamed)}};
}

void list_trial(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  if (!keeps_files(context, call)) {
    return;
  }
  context.about.files->lists_of(call.experiment(), call.trial(),
                                [reply = call.reply](const Result<KeptFiles::Lists>& lists) {
                                  reply(lists ? with(200, trial_value(*lists)) : failure(lists.error()));
                                });
}

void fetch(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  const auto worker = number_of(call.request, "worker", 0);
  const auto offset = number_of(call.request, "offset", 0);
  const auto limit = number_of(call.request, "limit", proto::most_piece_bytes);
  if (const Error* error = first_error(worker, offset, limit)) {
    call.reply(failure(*error));
    return;
  }
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  if (!keeps_files(context, call)) {
    return;
  }
  context.about.files->read({call.experiment(), call.trial(), engine::WorkerId(*worker)}, call.digest,
                            *offset, std::min<std::uint64_t>(*limit, proto::most_piece_bytes),
                            [reply = call.reply](const Result<std::string>& bytes) {
                              if (!bytes) {
                                reply(failure(bytes.error()));
                                return;
                              }
                              net::HttpResponse response;
                              response.content_type = "application/octet-stream";
                              response.body = *bytes;
                              reply(std::move(response));
                            });
}

constexpr QueryParameter offset_parameter{"offset", QueryParameter::Kind::whole_number, "Of the first byte."};
constexpr QueryParameter offer_query[] = {{"lease", QueryParameter::Kind::whole_number, "Of the attempt."}};
constexpr QueryParameter piece_query[] = {offset_parameter};
constexpr QueryParameter content_query[] = {
    {"worker", QueryParameter::Kind::whole_number, "As the list of files names it."},
    offset_parameter,
    {"limit", QueryParameter::Kind::whole_number, "The most bytes; long pieces end earlier."},
};

constexpr Route file_table[] = {
    {"GET",
     "/api/v1/experiments/{experiment}/files",
     Role::viewer,
     &list,
     {"list_files", "files", "Sums the files of each trial", "TrialFileSums"}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/files",
     Role::viewer,
     &list_trial,
     {"list_trial_files", "files", "Lists files of a trial", "TrialFiles"}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/files/{digest}",
     Role::viewer,
     &fetch,
     {"fetch_file", "files", "Answers a piece of a file", "", "", 200, "application/octet-stream"},
     content_query},
    {"PUT", "/api/v1/files/{experiment}/{trial}/{attempt}", Role::worker, &offer, only_for_workers,
     offer_query},
    {"PUT", "/api/v1/files/{experiment}/{trial}/{digest}", Role::worker, &take_piece, only_for_workers,
     piece_query},
};

}  // namespace

std::span<const Route> file_routes() noexcept {
  return file_table;
}

}  // namespace hpsearch::daemon
