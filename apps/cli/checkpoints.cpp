#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "cli/server.hpp"
#include "cli/shapes.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "hpsearch/engine/config/remote_storage.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/stored.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;

constexpr const char* manifest_name = "manifest.json";
constexpr std::size_t largest_manifest = std::size_t{64} * 1024 * 1024;

struct Found {
  std::uint64_t experiment = 0;
  Value::List checkpoints;
  Value answer;
};

bool is_set(const Value& checkpoint, std::string_view name) {
  const bool* held = member(checkpoint, name).as_bool();
  return held != nullptr && *held;
}

/// Those of the experiment, or of one trial.
Outcome<Found> find_checkpoints(const Server& server, const CheckpointOptions& options) {
  const Outcome<std::uint64_t> experiment = server.experiment(options.experiment.experiment);
  if (!experiment) {
    return experiment.failure();
  }
  std::optional<std::uint64_t> trial;
  if (!options.trial.empty()) {
    const Outcome<std::uint64_t> number = read_number(options.trial, "TRIAL");
    if (!number) {
      return number.failure();
    }
    trial = *number;
  }
  const Outcome<Value> answer = server.client().get(experiment_target(*experiment, "/checkpoints"));
  if (!answer) {
    return answer.failure();
  }
  Found found{*experiment, {}, *answer};
  for (const Value& checkpoint : list_at(*answer, "checkpoints")) {
    if (!trial || count_at(checkpoint, "trial") == *trial) {
      found.checkpoints.push_back(checkpoint);
    }
  }
  return found;
}

/// The one that is wanted of a trial's: of that step, the latest, or the best and else the latest.
const Value* choose(const Value::List& checkpoints, const CheckpointOptions& options) {
  const Value* chosen = nullptr;
  for (const Value& checkpoint : checkpoints) {
    const bool better = options.step     ? count_at(checkpoint, "step") == *options.step
                        : options.latest ? is_set(checkpoint, "latest")
                                         : is_set(checkpoint, "best") || (chosen == nullptr && is_set(checkpoint, "latest"));
    chosen = better ? &checkpoint : chosen;
  }
  return chosen;
}

Failure none_of(const CheckpointOptions& options) {
  return not_found_failure("trial " + options.trial + " has no checkpoint" +
                           (options.step ? " of step " + std::to_string(*options.step) : std::string()) +
                           "; hpsearch checkpoints list shows them");
}

/// Compares a copied file with what the manifest says of it; the complaint, or "".
std::string difference(const fs::path& file, const Value& entry) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 256 * 1024> piece;  // Filled by read().
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    const auto got = static_cast<std::size_t>(in.gcount());
    crc = proto::crc32c(crc, std::as_bytes(std::span(piece.data(), got)));
    size += got;
  }
  if (size != count_at(entry, "bytes")) {
    return "has " + std::to_string(size) + " bytes instead of " + std::to_string(count_at(entry, "bytes"));
  }
  return crc == count_at(entry, "crc32c") ? "" : "is damaged: its checksum is another one";
}

/// Copies a checkpoint to a directory that is not there yet; what could not be copied or is damaged is a failure,
/// and nothing is left then.
Outcome<Value> fetch(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (engine::is_remote(from.string())) {
    return plain_failure("the checkpoint is in an object store; fetch it there: " + from.string());
  }
  if (fs::exists(fs::symlink_status(to, error))) {
    return conflict_failure(to.string() + " exists already; name a directory to make");
  }
  if (!fs::is_regular_file(from / manifest_name, error)) {
    return plain_failure("the checkpoint " + from.string() +
                         " cannot be read on this machine; run this on one that shares the file system with the workers");
  }
  const fs::path unfinished = to.string() + ".unfinished";
  fs::remove_all(unfinished, error);
  fs::copy(from, unfinished, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  std::string complaint = error ? "cannot copy to " + unfinished.string() + ": " + error.message() : "";
  std::ifstream in(unfinished / manifest_name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto manifest =
      proto::parse_json(text, {.bytes = largest_manifest, .depth = 8, .nodes = largest_manifest});
  if (complaint.empty() && !manifest) {
    complaint = "the manifest of " + from.string() + " is damaged: " + manifest.error().message;
  }
  std::uint64_t files = 0;
  for (const Value& entry : complaint.empty() ? list_at(*manifest, "files") : Value::List{}) {
    if (member(entry, "link").is_null()) {
      const std::string name = text_at(entry, "path");
      const std::string wrong = difference(unfinished / name, entry);
      complaint = complaint.empty() && !wrong.empty() ? from.string() + ": " + name + " " + wrong : complaint;
      ++files;
    }
  }
  if (complaint.empty()) {
    fs::rename(unfinished, to, error);
    complaint = error ? "cannot make " + to.string() + ": " + error.message() : "";
  }
  if (!complaint.empty()) {
    fs::remove_all(unfinished, error);
    return plain_failure(complaint);
  }
  return Value(Value::Map{{"path", to.string()}, {"from", from.string()}, {"files", static_cast<std::int64_t>(files)}});
}

}  // namespace

int list_checkpoints(const CheckpointOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.experiment.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  Outcome<Found> found = find_checkpoints(*server, options);
  if (!found) {
    return output.fail(found.failure());
  }
  if (output.json()) {
    (*found->answer.as_map())["checkpoints"] = std::move(found->checkpoints);
    output.data(found->answer);
    return 0;
  }
  using Align = Table::Align;
  Table table({{"TRIAL", Align::right}, {"STEP", Align::right}, {"METRIC", Align::right}, {"BYTES", Align::right}, {"IS"}, {"PATH"}});
  for (const Value& checkpoint : found->checkpoints) {
    const bool best = is_set(checkpoint, "best");
    const bool latest = is_set(checkpoint, "latest");
    table.add({std::to_string(count_at(checkpoint, "trial")), std::to_string(count_at(checkpoint, "step")),
               metric_or_dash(member(checkpoint, "metric")), std::to_string(count_at(checkpoint, "bytes")),
               best && latest ? "best, latest" : best ? "best" : latest ? "latest" : "",
               text_at(checkpoint, "path")});
  }
  output.print(table.empty() ? std::string("no checkpoints\n") : table.text());
  return 0;
}

int download_checkpoint(const CheckpointOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.experiment.server, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<Found> found = find_checkpoints(*server, options);
  if (!found) {
    return output.fail(found.failure());
  }
  const Value* chosen = choose(found->checkpoints, options);
  if (chosen == nullptr) {
    return output.fail(none_of(options));
  }
  const Outcome<Value> fetched = fetch(text_at(*chosen, "path"), options.to);
  if (!fetched) {
    return output.fail(fetched.failure());
  }
  if (output.json()) {
    output.data(*fetched);
  } else {
    output.print("step " + std::to_string(count_at(*chosen, "step")) + " of trial " + options.trial + " is in " +
                 options.to + ", every file checked\n");
  }
  return 0;
}

int delete_checkpoints(const CheckpointOptions& options, const Output& output) {
  if (!options.step && !options.all) {
    return output.fail(usage_failure("say which: --step STEP or --all"));
  }
  const Outcome<Server> server = Server::reach(options.experiment.server, Server::Need::running, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<Found> found = find_checkpoints(*server, options);
  if (!found) {
    return output.fail(found.failure());
  }
  Value::List paths;
  for (const Value& checkpoint : found->checkpoints) {
    if (options.all || count_at(checkpoint, "step") == *options.step) {
      paths.emplace_back(text_at(checkpoint, "path"));
    }
  }
  if (paths.empty()) {
    return output.fail(none_of(options));
  }
  const std::size_t count = paths.size();
  const Outcome<Value> answer = server->client().post(
      experiment_target(found->experiment, "/trials/" + options.trial + "/checkpoints/delete"),
      Value::Map{{"paths", std::move(paths)}});
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print(std::to_string(count) + (count == 1 ? " checkpoint" : " checkpoints") + " of trial " + options.trial +
                 " will be deleted\n");
  }
  return 0;
}

}  // namespace hpsearch::cli
