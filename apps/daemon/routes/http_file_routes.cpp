#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/blobs/kept_store.hpp"
#include "daemon/downloads/http_download.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/proto/api/files.hpp"
#include "hpsearch/proto/api/schema.hpp"
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
        api::TrialFileSums sums;
        for (const KeptStore::Summary& one : all) {
          sums.trials.push_back(
              {one.set.trial, one.set.worker, one.attempt, one.files, one.bytes, one.left, one.metric});
        }
        reply(with(200, sums));
      });
}

void add_named(std::vector<api::OtherFile>& to, const proto::DroppedFiles& files, engine::WorkerId worker) {
  for (const proto::DroppedFile& file : files.files) {
    to.push_back({file.path, file.bytes, file.why, worker});
  }
}

/// If several workers have files, those of later attempts count.
api::TrialFiles files_of_trial(const KeptStore::Lists& lists) {
  api::TrialFiles answer;
  for (const auto& [path, found] : KeptStore::one_tree(lists)) {
    const proto::OfferedFile& file = found.file;
    answer.files.push_back({path, file.bytes, file.digest, file.executable, file.link, found.worker});
  }
  for (const auto& [worker, stored] : lists) {
    add_named(answer.dropped, stored.offer.dropped, worker);
    add_named(answer.left, stored.offer.left, worker);
    answer.dropped_unnamed += stored.offer.dropped.unnamed;
    answer.left_unnamed += stored.offer.left.unnamed;
  }
  return answer;
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
                                 reply(lists ? with(200, files_of_trial(*lists)) : failure(lists.error()));
                               });
}

void fetch(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  const auto worker = number_of(call.request, "worker", 0);
  if (!worker) {
    call.reply(failure(worker.error()));
    return;
  }
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  if (!keeps_files(context, call)) {
    return;
  }
  context.about.kept->open(
      {call.experiment(), call.trial(), engine::WorkerId(*worker)}, call.digest,
      [&context, call](Result<files::OpenFile> file) {
        call.reply(file ? answer_with(context, call,
                                      download_of(*std::move(file), call.digest, "application/octet-stream"))
                        : failure(file.error()));
      });
}

void fetch_all(RequestContext& context, Call call) {
  const auto record = context.experiment_with_trial(call);
  if (!record) {
    context.answer(call, failure(record.error()));
    return;
  }
  if (!keeps_files(context, call)) {
    return;
  }
  context.about.kept->archive(
      call.experiment(), call.trial(), [&context, call](Result<KeptStore::Archive> packed) {
        const std::string name = "files-" + std::to_string(call.experiment().number()) + "-" +
                                 std::to_string(call.trial().number()) + ".tar";
        call.reply(packed ? answer_with(context, call, download_of(std::move(packed->tar), packed->tag, name))
                          : failure(packed.error()));
      });
}

constexpr QueryParameter content_query[] = {
    {"worker", QueryParameter::Kind::whole_number, "As the list of files names it."},
};

constexpr Route file_table[] = {
    {"GET",
     "/api/v1/experiments/{experiment}/files",
     Role::viewer,
     &list,
     {"list_files", "files", "Sums the files of each trial", api::schema_of<api::TrialFileSums>}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/files",
     Role::viewer,
     &list_trial,
     {"list_trial_files", "files", "Lists files of a trial", api::schema_of<api::TrialFiles>}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/files.tar",
     Role::viewer,
     &fetch_all,
     {"fetch_trial_files", "files", "Answers all files of a trial as a tar archive, or a range of its bytes",
      nullptr, nullptr, 200, "application/x-tar"}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/files/{digest}",
     Role::viewer,
     &fetch,
     {"fetch_file", "files", "Answers a file, or a range of its bytes", nullptr, nullptr, 200,
      "application/octet-stream"},
     content_query},
};

}  // namespace

std::span<const Route> file_routes() noexcept {
  return file_table;
}

}  // namespace hpsearch::daemon
