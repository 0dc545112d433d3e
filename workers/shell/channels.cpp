#include "hpsearch/workers/shell/channels.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/rclone.hpp"
#include "hpsearch/jobs/fields/remote_input.hpp"
#include "hpsearch/workers/core/adapters/launch_kinds/launch_kind.hpp"
#include "hpsearch/workers/core/adapters/modelarts/job_directory.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;
using files::Directory;
using files::Entry;
using files::Kind;
using jobs::Channel;
using jobs::LaunchSpec;

namespace {

constexpr const char* owner_name = ".hpsearch-trial.json";

/// Fetches an input, for each attempt again. Returns the channel's place below data/.
Result<std::string> fetch_input(const Channel& channel, const Directory& data, const LaunchSpec& spec) {
  const jobs::RemoteInput input = jobs::remote_input(channel.path, spec.environment_variables);
  const Status made = data.make_directories(channel.name);
  const Result<Directory> to = made ? data.directory(channel.name) : made.error();
  if (!to) {
    return to.error();
  }
  const bool is_directory = input.file_name.empty();
  std::vector<std::string> words{is_directory ? "copy" : "copyto", input.place,
                                 (to->name() / input.file_name).string()};
  if (!input.configuration.empty()) {
    words.push_back("--config=" + input.configuration);
  }
  if (const Status fetched = net::run_rclone(words, input.variables); !fetched) {
    return Error{fetched.error().code, "inputs." + channel.name + ": cannot fetch " + channel.path + ": " +
                                           fetched.error().message};
  }
  return channel.name + "/" + input.file_name;
}

/// Makes a link to a directory, or a directory with a link to a file. Returns the channel's place below
/// data/.
Result<std::string> lay_input(const Channel& channel, const Directory& data, const fs::path& work) {
  std::error_code error;
  fs::path from = (work / channel.path).lexically_normal();  // An absolute path stays.
  if (!from.has_filename()) {
    from = from.parent_path();  // "/data/train/"
  }
  const fs::file_status status = fs::status(from, error);
  if (fs::is_directory(status)) {
    const Status linked = data.make_link(from, channel.name);
    return linked ? Result<std::string>(channel.name + "/") : Result<std::string>(linked.error());
  }
  if (!fs::exists(status)) {
    const bool absolute = channel.path.front() == '/';
    return Error{
        Errc::not_found,
        "inputs." + channel.name + ": there is no " + channel.path +
            (absolute ? " on this worker's machine; it has to be on every machine that may run the experiment"
                      : " in the context directory")};
  }
  Status done = data.make_directories(channel.name);
  if (done) {
    done = data.make_link(from, fs::path(channel.name) / from.filename());
  }
  return done ? Result<std::string>(channel.name + "/" + from.filename().string())
              : Result<std::string>(done.error());
}

/// Marks a trial's directory with its search. Every daemon numbers experiments from 1, so a path may be
/// another search's.
Status claim(const Directory& trial, const LaunchSpec& spec, const std::string& channel) {
  const std::string owner =
      engine::compact_json(Value::Map{{"experiment", spec.experiment_name},
                                      {"trial_id", static_cast<std::int64_t>(spec.trial_id.number())},
                                      {"trial_seed", static_cast<std::int64_t>(spec.trial_seed)}}) +
      "\n";
  if (const Status written = trial.write_if_missing(owner_name, owner); !written) {
    return written;
  }
  const Result<std::string> found = trial.read(owner_name, 64 * 1024);
  if (!found) {
    return found.error();
  }
  if (*found != owner) {
    return Error{Errc::wrong_state, "outputs." + channel + ": " + trial.name().string() +
                                        " contains output of another search; set another path"};
  }
  return Done{};
}

/// The latest earlier attempt that left output.
Result<std::optional<std::string>> attempt_before(const Directory& trial, engine::AttemptNumber attempt) {
  const Result<std::vector<Entry>> entries = trial.entries();
  if (!entries) {
    return entries.error();
  }
  std::pair<engine::AttemptNumber, engine::LeaseId> highest;
  std::optional<std::string> found;
  for (const Entry& entry : *entries) {
    const auto label = engine::read_attempt_label(entry.name);
    if (entry.kind == Kind::directory && label && label->first < attempt && (!found || *label > highest)) {
      highest = *label;
      found = entry.name;
    }
  }
  return found;
}

/// Makes `ROOT/EXPERIMENT/TRIAL/ATTEMPT` below the channel's path, which the user chose.
Status lay_output(const Channel& channel, const LaunchSpec& spec, const Directory& output) {
  if (const Status made = make_directories(channel.path); !made) {
    return made;
  }
  const Result<Directory> root = Directory::open(channel.path);
  if (!root) {
    return root.error();
  }
  const fs::path of_trial =
      fs::path(std::to_string(spec.key.experiment.number())) / std::to_string(spec.key.trial.number());
  const std::string name = engine::label_of(spec.key);
  const auto linked = [&] {
    return output.make_link(fs::path(channel.path) / of_trial / name, channel.name);
  };
  if (spec.rendezvous.rank > 0) {
    // Rank 0 makes it for all. If they share it, this rank may come when the others have written files there.
    const Status made = root->make_directories(of_trial / name);
    return made ? linked() : made;
  }
  const Status made = root->make_directories(of_trial);
  const Result<Directory> trial = made ? root->directory(of_trial) : made.error();
  if (!trial) {
    return trial.error();
  }
  if (const Status ours = claim(*trial, spec, channel.name); !ours) {
    return ours;
  }
  // It is this attempt's, if its worker ended before the program started.
  Status ready = files::remove_tree(*trial, name);
  if (ready) {
    ready = trial->make_directory(name);
  }
  if (ready && channel.pre_download) {
    const Result<std::optional<std::string>> before = attempt_before(*trial, spec.key.attempt);
    ready = before ? Status(Done{}) : Status(before.error());
    if (before && before->has_value()) {
      const Result<Directory> from = trial->directory(**before);
      const Result<Directory> to = from ? trial->directory(name) : from.error();
      ready = to ? files::copy_content(*from, *to) : Status(to.error());
    }
  }
  return ready ? linked() : ready;
}

/// Links the program's directory under the name that its user gave it, at the same place as in ModelArts.
Status name_code(const Directory& root, const LaunchSpec& spec) {
  const std::string name = fs::path(spec.context_directory).filename().string();
  const fs::path directory = fs::path("ml") / job_directory;
  const Status made = root.make_directories(directory);
  return made ? root.make_link("../../usercode", directory / (name.empty() ? "usercode" : name)) : made;
}

/// Makes model, checkpoints and tensorboard, and logs, which links to the last.
Status lay_default_outputs(const Directory& output, ChannelPlaces& places, const std::string& ml) {
  for (const char* name : {"checkpoints", "model", "tensorboard"}) {
    if (!places.outputs.contains(name)) {
      if (const Status made = output.make_directories(name); !made) {
        return made;
      }
      places.outputs[name] = ml + "/output/" + name + "/";
    }
  }
  if (places.outputs.contains("logs")) {
    return Done{};
  }
  places.outputs["logs"] = ml + "/output/logs/";
  return output.make_link("tensorboard", "logs");
}

}  // namespace

Result<ChannelPlaces> make_channels(const LaunchSpec& spec, const AttemptDirectory& directory,
                                    const std::string& ml) {
  ChannelPlaces places;
  const Result<Directory> root = directory.opened();
  if (const Status named = root ? name_code(*root, spec) : Status(root.error()); !named) {
    return named.error();
  }
  const Result<Directory> data = root ? root->directory("ml/input/data") : root.error();
  const Result<Directory> output = data ? root->directory("ml/output") : data.error();
  if (!output) {
    return output.error();
  }
  for (const Channel& channel : spec.contract.inputs) {
    Result<std::string> place = jobs::remote_input_scheme(channel.path).empty()
                                    ? lay_input(channel, *data, directory.work())
                                    : fetch_input(channel, *data, spec);
    if (!place) {
      return place.error();
    }
    places.inputs[channel.name] = ml + "/input/data/" + *place;
  }
  for (const Channel& channel : spec.contract.outputs) {
    const bool lends = only_lends_slots(spec);  // No program here writes to any channel.
    const Status made = channel.path.empty() || lends ? output->make_directories(channel.name)
                                                      : lay_output(channel, spec, *output);
    if (!made) {
      return made.error();
    }
    const bool shared = !channel.path.empty() && spec.rendezvous.rank > 0;
    if (!lends && !shared && channel.name == "checkpoints" && channel.pre_download &&
        !spec.latest_checkpoint.empty()) {
      // The files of the manifest exist; the storage itself may link to the checkpoint.
      const Result<Directory> from = Directory::open(spec.latest_checkpoint);
      const Result<Directory> to = from ? output->directory(channel.name) : from.error();
      if (const Status copied = to ? files::copy_content(*from, *to) : Status(to.error()); !copied) {
        return copied.error();
      }
    }
    places.outputs[channel.name] = ml + "/output/" + channel.name + "/";
  }
  if (const Status made = lay_default_outputs(*output, places, ml); !made) {
    return made.error();
  }
  return places;
}

}  // namespace hpsearch::workers
