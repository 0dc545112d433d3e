#include "hpsearch/io/checkpoints/removal.hpp"

#include <string>

#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"

namespace hpsearch::checkpoints {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
using files::Directory;
using files::Kind;
using proto::manifest_name;

Status check_removable(const Shelf& shelf, const fs::path& place, std::uint64_t store) {
  const std::string name = place.filename().string();
  const auto there = shelf.trial.kind(name);
  const auto manifest = shelf.trial.kind(fs::path(name) / manifest_name);
  if (!there || (*there && (*there != Kind::directory || !manifest || *manifest != Kind::file))) {
    return Error{there && manifest ? Errc::wrong_state : Errc::unavailable,
                 place.string() + " is not removed: it holds no checkpoint"};
  }
  const std::string elsewhere = belongs_elsewhere(shelf, store);
  return elsewhere.empty()
             ? Status(Done{})
             : Status(Error{Errc::wrong_state, place.string() + " is not removed: " + elsewhere});
}

}  // namespace

Status remove_directory(const Shelf& shelf, const fs::path& place, std::uint64_t store) {
  if (const Status removable = check_removable(shelf, place, store); !removable) {
    return removable;
  }
  const Directory& trial = shelf.trial;
  const std::string name = place.filename().string();
  const std::string aside = "." + name + ".deleted";
  Status gone = files::remove_tree(trial, aside);  // An earlier try may have left it.
  if (gone) {
    gone = files::move_entry(trial, name, trial, aside);
    if (!gone && gone.error().code == Errc::not_found) {
      gone = Done{};  // It was removed already. After any other error it still exists.
    }
  }
  if (gone) {
    gone = files::remove_tree(trial, aside);
  }
  if (!gone) {
    return Error{Errc::unavailable,
                 "cannot remove the checkpoint " + place.string() + ": " + gone.error().message};
  }
  static_cast<void>(
      shelf.experiment.remove(place.parent_path().filename()).has_value());  // Fails if it isn't empty.
  return Done{};
}

}  // namespace hpsearch::checkpoints
