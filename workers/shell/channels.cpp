#include "hpsearch/workers/shell/channels.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/workers/core/adapters/launch_kinds/launch_kind.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;
using jobs::Channel;
using jobs::LaunchSpec;

namespace {

constexpr const char* owner_name = ".hpsearch-trial.json";

Status make_link(const fs::path& target, const fs::path& link) {
  std::error_code error;
  fs::create_symlink(target, link, error);
  return error ? Status(file_error("cannot make link", link, error)) : Status(Done{});
}

/// A link to a directory, or a directory with a link to a file; the answer is the channel's place below
/// data/.
Result<std::string> lay_input(const Channel& channel, const fs::path& data, const fs::path& work) {
  std::error_code error;
  fs::path from = (work / channel.path).lexically_normal();  // An absolute path stays what it is.
  if (!from.has_filename()) {
    from = from.parent_path();  // "/data/train/"
  }
  const fs::file_status status = fs::status(from, error);
  if (fs::is_directory(status)) {
    const Status linked = make_link(from, data / channel.name);
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
  Status done = make_directories(data / channel.name);
  if (done) {
    done = make_link(from, data / channel.name / from.filename());
  }
  return done ? Result<std::string>(channel.name + "/" + from.filename().string())
              : Result<std::string>(done.error());
}

/// Whose outputs a trial's directory holds. Experiments are numbered from 1 by every daemon, so a path may be
/// another search's.
Status claim(const fs::path& trial, const LaunchSpec& spec, const std::string& channel) {
  const std::string owner =
      engine::compact_json(Value::Map{{"experiment", spec.experiment_name},
                                      {"trial_id", static_cast<std::int64_t>(spec.trial_id.number())},
                                      {"trial_seed", static_cast<std::int64_t>(spec.trial_seed)}}) +
      "\n";
  const Result<std::string> found = read_file(trial / owner_name, 64 * 1024);
  if (!found && found.error().code != Errc::not_found) {
    return found.error();
  }
  if (!found) {
    const Status made = make_directories(trial);
    return made ? write_file(trial / owner_name, owner, false) : made;
  }
  if (*found != owner) {
    return Error{Errc::wrong_state, "outputs." + channel + ": " + trial.string() +
                                        " contains output of another search; set another path"};
  }
  return Done{};
}

/// The highest attempt before this one that left anything.
std::optional<fs::path> attempt_before(const fs::path& trial, engine::AttemptNumber attempt) {
  std::pair<engine::AttemptNumber, engine::LeaseId> highest;
  std::optional<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(trial, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const auto label = engine::read_attempt_label(name);
    if (label && label->first < attempt && (!found || *label > highest)) {
      highest = *label;
      found = trial / name;
    }
  }
  return found;
}

Status copy_content(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    if (const Status copied = copy_tree(at->path(), to / at->path().filename()); !copied) {
      return copied;
    }
  }
  return error ? Status(file_error("cannot read", from, error)) : Status(Done{});
}

Status lay_output(const Channel& channel, const LaunchSpec& spec, const fs::path& link) {
  const fs::path trial = fs::path(channel.path) / std::to_string(spec.key.experiment.number()) /
                         std::to_string(spec.key.trial.number());
  const fs::path place = trial / engine::label_of(spec.key);
  if (spec.rendezvous.rank > 0) {
    // Rank 0 lays it for all. Where they share it, this one may come when the others have written there.
    const Status made = make_directories(place);
    return made ? make_link(place, link) : made;
  }
  if (const Status ours = claim(trial, spec, channel.name); !ours) {
    return ours;
  }
  remove_tree(place);  // Of this very attempt, when its worker died before it began.
  if (const Status made = make_directories(place); !made) {
    return made;
  }
  if (channel.pre_download) {
    if (const auto before = attempt_before(trial, spec.key.attempt)) {
      if (const Status copied = copy_content(*before, place); !copied) {
        return copied;
      }
    }
  }
  return make_link(place, link);
}

/// model, checkpoints and tensorboard, and logs, which is another name of the last.
Status lay_default_outputs(const fs::path& output, ChannelPlaces& places, const std::string& ml) {
  std::error_code error;
  for (const char* name : {"checkpoints", "model", "tensorboard"}) {
    if (!places.outputs.contains(name)) {
      if (const Status made = make_directories(output / name); !made) {
        return made;
      }
      places.outputs[name] = ml + "/output/" + name + "/";
    }
  }
  if (places.outputs.contains("logs")) {
    return Done{};
  }
  places.outputs["logs"] = ml + "/output/logs/";
  return make_link("tensorboard", output / "logs");
}

}  // namespace

Result<ChannelPlaces> make_channels(const LaunchSpec& spec, const AttemptDirectory& directory,
                                    const std::string& ml) {
  ChannelPlaces places;
  for (const Channel& channel : spec.contract.inputs) {
    Result<std::string> place = lay_input(channel, directory.data(), directory.work());
    if (!place) {
      return place.error();
    }
    places.inputs[channel.name] = ml + "/input/data/" + *place;
  }
  for (const Channel& channel : spec.contract.outputs) {
    const fs::path place = directory.output() / channel.name;
    const bool lends = only_lends_slots(spec);  // No program here writes to any.
    const Status made =
        channel.path.empty() || lends ? make_directories(place) : lay_output(channel, spec, place);
    if (!made) {
      return made.error();
    }
    const bool shared = !channel.path.empty() && spec.rendezvous.rank > 0;
    if (!lends && !shared && channel.name == "checkpoints" && channel.pre_download &&
        !spec.latest_checkpoint.empty()) {
      if (const Status copied = copy_content(spec.latest_checkpoint, place); !copied) {
        return copied.error();
      }
    }
    places.outputs[channel.name] = ml + "/output/" + channel.name + "/";
  }
  if (const Status made = lay_default_outputs(directory.output(), places, ml); !made) {
    return made.error();
  }
  return places;
}

}  // namespace hpsearch::workers
