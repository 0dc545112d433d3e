#include "hpsearch/io/checkpoints/place.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"

namespace hpsearch::checkpoints {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;
using files::Directory;

constexpr std::size_t longest_owner = std::size_t{64} * 1024;

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool is_place_of_a_checkpoint(const std::string& path, engine::ExperimentId experiment) {
  const fs::path place(path);
  const std::string name = place.filename().string();
  const std::size_t dash = name.find('-');
  const bool plain = jobs::is_remote(path) ? path.find("/../") == std::string::npos
                                           : place.is_absolute() && place == place.lexically_normal();
  return plain && dash != std::string::npos &&
         engine::read_attempt_label(std::string_view(name).substr(0, dash)) &&
         is_number(std::string_view(name).substr(dash + 1)) &&
         is_number(place.parent_path().filename().string()) &&
         place.parent_path().parent_path().filename() == std::to_string(experiment.number());
}

Result<std::optional<Shelf>> open_shelf(const fs::path& place) {
  const auto root = Directory::open(place.parent_path().parent_path().parent_path());
  if (!root) {
    return root.error().code == Errc::not_found ? Result<std::optional<Shelf>>(std::nullopt) : root.error();
  }
  return open_shelf(*root, place);
}

Result<std::optional<Shelf>> open_shelf(const Directory& root, const fs::path& place) {
  const fs::path trial = place.parent_path();
  auto of_experiment = root.directory(trial.parent_path().filename());
  auto of_trial = of_experiment ? of_experiment->directory(trial.filename()) : of_experiment.error();
  if (of_trial) {
    return std::optional(Shelf{*std::move(of_experiment), *std::move(of_trial)});
  }
  return of_trial.error().code == Errc::not_found ? Result<std::optional<Shelf>>(std::nullopt)
                                                  : of_trial.error();
}

std::string belongs_elsewhere(const Shelf& shelf, std::uint64_t store) {
  const auto owner = shelf.experiment.read(proto::checkpoint_owner_name, longest_owner);
  if (!owner && owner.error().code == Errc::not_found) {
    return "";
  }
  const std::string found = owner ? owner->substr(0, owner->find('\n')) : "";
  return owner && found + "\n" == proto::checkpoint_owner(store)
             ? ""
             : shelf.experiment.name().string() + proto::of_another_owner(found, store);
}

Result<Directory> open_checkpoint(const std::string& path, engine::ExperimentId experiment,
                                  std::uint64_t store) {
  if (!is_place_of_a_checkpoint(path, experiment)) {
    return Error{Errc::wrong_state,
                 path + " is no place of a checkpoint of experiment " + std::to_string(experiment.number())};
  }
  auto shelf = open_shelf(path);
  if (!shelf) {
    return shelf.error();
  }
  if (!shelf->has_value()) {
    return Error{Errc::not_found, path + " is not there"};
  }
  if (const std::string why = belongs_elsewhere(**shelf, store); !why.empty()) {
    return Error{Errc::wrong_state, why};
  }
  return (*shelf)->trial.directory(fs::path(path).filename());
}

}  // namespace hpsearch::checkpoints
