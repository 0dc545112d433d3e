#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/blobs/checkpoint_archive.hpp"
#include "daemon/blobs/checkpoint_remover.hpp"
#include "daemon/downloads/http_download.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/experiment/source_checkpoint.hpp"
#include "hpsearch/io/checkpoints/place.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/proto/api/files.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::daemon {
namespace {

/// Names a checkpoint and how to read its files, beside the loop.
struct Asked {
  std::string id;  ///< As users name it.
  std::string path;
  engine::ExperimentId experiment;
  engine::TrialNumber trial;
  std::uint64_t store = 0;
};

Result<Asked> asked_for(const RequestContext& context, const Call& call) {
  const auto record = context.experiment_with_trial(call);
  if (!record) {
    return record.error();
  }
  const std::string id = std::to_string(call.experiment().number()) + "/" +
                         std::to_string(call.trial().number()) + "/" + call.word;
  const auto& known = (*record)->trials[call.trial().number()].checkpoints;
  if (known) {
    for (const engine::KnownCheckpoint& checkpoint : known->kept) {
      if (engine::checkpoint_id((*record)->id, call.trial(), checkpoint.path) == id) {
        return Asked{id, checkpoint.path, call.experiment(), call.trial(), context.runtime.cluster()};
      }
    }
  }
  return Error{Errc::not_found, "there is no checkpoint " + id};
}

std::string download_command(const Asked& asked) {
  return "hpsearch checkpoints download " + asked.id + " DIR";
}

/// An open checkpoint with its list of files.
struct Opened {
  files::Directory directory;
  proto::CheckpointManifest manifest;
};

Result<Opened> open(const Asked& asked) {
  if (jobs::is_remote(asked.path)) {
    return Error{Errc::wrong_state, "checkpoint " + asked.id + " is in an object store, at " + asked.path +
                                        "; download it with " + download_command(asked)};
  }
  auto directory = checkpoints::open_checkpoint(asked.path, asked.experiment, asked.store);
  if (!directory && directory.error().code == Errc::not_found) {
    return Error{Errc::not_found,
                 "checkpoint " + asked.id + " is at " + asked.path +
                     ", which is not on the daemon's machine; on a machine that has it, run " +
                     download_command(asked)};
  }
  if (!directory) {
    return directory.error();
  }
  auto manifest = read_manifest_of(*directory, asked.experiment, asked.trial);
  return manifest ? Result<Opened>(Opened{*std::move(directory), *std::move(manifest)}) : manifest.error();
}

api::CheckpointFiles listed_files(const Asked& asked, const proto::CheckpointManifest& manifest) {
  api::CheckpointFiles checkpoint{.id = asked.id, .path = asked.path, .step = engine::count(manifest.step)};
  for (const proto::ManifestEntry& entry : manifest.files) {
    api::CheckpointFile& file = checkpoint.files.emplace_back();
    file.path = proto::to_utf8(entry.path);
    file.bytes = entry.bytes.value_or(0);
    file.crc32c = entry.crc32c;
    if (entry.link) {
      file.link = proto::to_utf8(*entry.link);
    }
    checkpoint.bytes += file.bytes;
  }
  return checkpoint;
}

/// Runs `make` beside the loop, and the function that it returns on the loop.
void read_beside(RequestContext& context, const Call& call,
                 std::function<net::Background::Afterwards(const Asked&)> make) {
  const auto asked = asked_for(context, call);
  if (!asked) {
    context.answer(call, failure(asked.error()));
    return;
  }
  context.when_durable(call, [&context, asked = *asked, make = std::move(make)] {
    context.checkpoint_reads->run([asked, make] { return make(asked); });
  });
}

void files(RequestContext& context, Call call) {
  read_beside(context, call, [call](const Asked& asked) -> net::Background::Afterwards {
    const auto opened = open(asked);
    auto response = std::make_shared<net::HttpResponse>(
        opened ? with(200, listed_files(asked, opened->manifest)) : failure(opened.error()));
    return [reply = call.reply, response] { reply(std::move(*response)); };
  });
}

void archive(RequestContext& context, Call call) {
  read_beside(context, call, [&context, call](const Asked& asked) -> net::Background::Afterwards {
    auto opened = open(asked);
    std::string top = "checkpoint-" + asked.id;
    std::replace(top.begin(), top.end(), '/', '-');
    auto packed = opened ? archive_of_checkpoint(std::move(opened->directory), opened->manifest, top)
                         : Result<files::TarArchive>(opened.error());
    if (!packed) {
      return [reply = call.reply, error = packed.error()] { reply(failure(error)); };
    }
    const std::string tag = top + "-" + std::to_string(packed->bytes());
    Download download = download_of(*std::move(packed), tag, top + ".tar");
    download.lane = Lane::checkpoints;
    auto response = std::make_shared<net::HttpResponse>(answer_with(context, call, std::move(download)));
    return [reply = call.reply, response] { reply(std::move(*response)); };
  });
}

constexpr std::size_t most_condemned_at_once = 500;

/// Lists paths that the daemon may not remove itself, for workers that may.
void condemned(RequestContext& context, Call call) {
  Value::List list;
  std::size_t count = 0;
  if (context.about.remover != nullptr) {
    for (const auto& [experiment, left] : context.about.remover->left()) {
      Value::List paths;
      for (const std::string& path : left.paths) {
        if (count < most_condemned_at_once && !jobs::is_remote(path)) {
          paths.emplace_back(path);
          ++count;
        }
      }
      list.emplace_back(
          Value::Map{{"experiment", integer(experiment.number())}, {"paths", std::move(paths)}});
    }
  }
  call.reply(with(200, Value::Map{{"condemned", std::move(list)}}));
}

void note_removed(RequestContext& context, Call call) {
  const auto body = call.object();
  const Value* experiment = body ? body->at_path("experiment") : nullptr;
  const Value* paths = body ? body->at_path("paths") : nullptr;
  if (experiment == nullptr || experiment->as_integer() == nullptr || paths == nullptr ||
      paths->as_list() == nullptr) {
    call.reply(
        failure(Error{Errc::bad_request, "the body must be {\"experiment\": N, \"paths\": [PATH, …]}"}));
    return;
  }
  std::vector<std::string> removed;
  for (const Value& path : *paths->as_list()) {
    if (path.as_text() != nullptr) {
      removed.push_back(*path.as_text());
    }
  }
  if (context.about.remover != nullptr) {
    context.about.remover->removed_elsewhere(
        engine::ExperimentId(static_cast<std::uint64_t>(*experiment->as_integer())), std::move(removed));
  }
  call.reply(with(200, Value::Map{}));
}

constexpr Route checkpoint_table[] = {
    {"GET", "/api/v1/checkpoints/condemned", Role::worker, &condemned, only_for_workers},
    {"POST", "/api/v1/checkpoints/removed", Role::worker, &note_removed, only_for_workers},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/{checkpoint}/files",
     Role::viewer,
     &files,
     {"list_checkpoint_files", "trials", "Lists files of a checkpoint", api::schema_of<api::CheckpointFiles>},
     {},
     true,
     Reach::usual,
     {Lane::checkpoints}},
    {"GET",
     "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/{checkpoint}/archive.tar",
     Role::viewer,
     &archive,
     {.id = "fetch_checkpoint",
      .tag = "trials",
      .summary = "Answers the files of a checkpoint as a tar archive, or a range of its bytes",
      .answer = nullptr,
      .answer_type = "application/x-tar"},
     {},
     true,
     Reach::usual,
     {Lane::checkpoints}},
    {"HEAD",
     "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/{checkpoint}/archive.tar",
     Role::viewer,
     &archive,
     {"measure_checkpoint", "trials", "Answers the size of the archive of a checkpoint", nullptr},
     {},
     true,
     Reach::usual,
     {Lane::checkpoints}},
};

}  // namespace

std::span<const Route> checkpoint_routes() noexcept {
  return checkpoint_table;
}

}  // namespace hpsearch::daemon
