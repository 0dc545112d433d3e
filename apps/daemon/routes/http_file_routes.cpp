#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/blobs/kept_store.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/wire/file_offer.hpp"

namespace hpsearch::daemon {
namespace {

bool keeps_files(RequestContext& context, const Call& call) {
  if (context.about.kept != nullptr && context.about.kept->keeps_files()) {
    return true;
  }
  call.reply(failure(Error{Errc::not_found, "this daemon keeps no files (hpsearchd --no-kept-files)"}));
  return false;
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
  context.about.kept->list(
      call.experiment(), [reply = call.reply](const std::vector<KeptStore::Summary>& all) {
        Value::List trials;
        for (const KeptStore::Summary& one : all) {
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
Value trial_value(const KeptStore::Lists& lists) {
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
  context.about.kept->lists_of(call.experiment(), call.trial(),
                               [reply = call.reply](const Result<KeptStore::Lists>& lists) {
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
  context.about.kept->read({call.experiment(), call.trial(), engine::WorkerId(*worker)}, call.digest, *offset,
                           std::min<std::uint64_t>(*limit, proto::most_piece_bytes),
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

constexpr QueryParameter content_query[] = {
    {"worker", QueryParameter::Kind::whole_number, "As the list of files names it."},
    {"offset", QueryParameter::Kind::whole_number, "Of the first byte."},
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
};

}  // namespace

std::span<const Route> file_routes() noexcept {
  return file_table;
}

}  // namespace hpsearch::daemon
