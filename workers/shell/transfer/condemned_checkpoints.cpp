#include "hpsearch/workers/shell/transfer/condemned_checkpoints.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/checkpoints/place.hpp"
#include "hpsearch/io/checkpoints/removal.hpp"
#include "hpsearch/io/files/tree_walk.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "hpsearch/workers/shell/processes/unix_accounts.hpp"

namespace hpsearch::workers {
namespace {

namespace fs = std::filesystem;
using engine::ExperimentId;
using engine::Result;
using engine::Value;
using files::Directory;
using namespace std::chrono_literals;

constexpr std::chrono::seconds patience = 30s;
constexpr std::size_t longest_owner = std::size_t{64} * 1024;
constexpr std::size_t most_answer = std::size_t{4} << 20U;

/// The owner of the directory, with its group only: no files of other users are needed.
std::optional<UnixAccount> owner_of(const Directory& root, const std::string& name, std::uint64_t min_uid) {
  const auto found = files::status_of(root, name);
  if (!found || !S_ISDIR(found->st_mode) || found->st_uid < std::max<std::uint64_t>(min_uid, 1)) {
    return std::nullopt;
  }
  return UnixAccount{.name = "uid " + std::to_string(found->st_uid),
                     .uid = found->st_uid,
                     .gid = found->st_gid,
                     .groups = {found->st_gid},
                     .home = "/"};
}

bool is_stores(const Directory& experiment, std::uint64_t store) {
  const auto owner = experiment.read(proto::checkpoint_owner_name, longest_owner);
  return owner && *owner == proto::checkpoint_owner(store);
}

/// Whether nothing is left at the place.
bool remove_one(ExperimentId experiment, const fs::path& place, std::uint64_t store, std::uint64_t min_uid) {
  if (!checkpoints::is_place_of_a_checkpoint(place.string(), experiment)) {
    return false;
  }
  const std::string name = std::to_string(experiment.number());
  // With the worker's rights: users need none above their own directories.
  const auto root = Directory::open(place.parent_path().parent_path().parent_path());
  const auto owner = root ? owner_of(*root, name, min_uid) : std::nullopt;
  if (!owner) {
    return false;
  }
  const Result<FilesAs> user = FilesAs::begin(owner);
  const auto of_experiment = user ? root->directory(name) : Result<Directory>(user.error());
  if (!of_experiment || !is_stores(*of_experiment, store)) {
    return false;
  }
  const auto shelf = checkpoints::open_shelf(*root, place);
  if (!shelf) {
    return false;
  }
  return !shelf->has_value() || checkpoints::remove_directory(**shelf, place, store).has_value();
}

std::optional<Value> asked(const DaemonAccess& daemon, const std::string& method, const std::string& target,
                           const std::string& body) {
  const auto answer = ask(daemon, {.method = method, .target = target, .body = body, .patience = patience});
  if (!answer || answer->status >= 300) {
    return std::nullopt;
  }
  auto value = proto::parse_json(answer->body, {.bytes = most_answer});
  return value ? std::optional(*std::move(value)) : std::nullopt;
}

}  // namespace

std::vector<std::string> remove_as_owner(ExperimentId experiment, const std::vector<std::string>& paths,
                                         std::uint64_t store, std::uint64_t min_uid) {
  std::vector<std::string> gone;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(gone),
               [&](const std::string& path) { return remove_one(experiment, path, store, min_uid); });
  return gone;
}

void remove_condemned_checkpoints(const DaemonAccess& daemon, std::uint64_t store, std::uint64_t min_uid) {
  const auto answer = asked(daemon, "GET", "/api/v1/checkpoints/condemned", "");
  const Value* condemned = answer ? answer->at_path("condemned") : nullptr;
  const Value::List* all = condemned == nullptr ? nullptr : condemned->as_list();
  for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const Value* number = (*all)[i].at_path("experiment");
    const Value* listed = (*all)[i].at_path("paths");
    if (number == nullptr || number->as_integer() == nullptr || listed == nullptr ||
        listed->as_list() == nullptr) {
      continue;
    }
    std::vector<std::string> paths;
    for (const Value& path : *listed->as_list()) {
      paths.push_back(path.as_text() == nullptr ? "" : *path.as_text());
    }
    const ExperimentId experiment(static_cast<std::uint64_t>(*number->as_integer()));
    const std::vector<std::string> gone = remove_as_owner(experiment, paths, store, min_uid);
    if (gone.empty()) {
      continue;
    }
    net::log(net::Level::info,
             "removed " + std::to_string(gone.size()) + " checkpoints of experiment " +
                 std::to_string(experiment.number()) + " as their user",
             net::about(experiment));
    static_cast<void>(asked(daemon, "POST", "/api/v1/checkpoints/removed",
                            engine::compact_json(Value::Map{
                                {"experiment", *number}, {"paths", Value::List(gone.begin(), gone.end())}})));
  }
}

}  // namespace hpsearch::workers
