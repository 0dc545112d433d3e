#include "daemon/sessions/relative_paths.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "hpsearch/jobs/fields/remote_storage.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Event;
using engine::Result;
using engine::Status;

template <class Change>
void change_paths(Event& event, const Change& change) {
  if (auto* taken = std::get_if<engine::ReportTaken>(&event.body)) {
    if (auto* checkpoint = std::get_if<engine::CheckpointReport>(&taken->report)) {
      change(checkpoint->path);
    }
  } else if (auto* collected = std::get_if<engine::CheckpointsCollected>(&event.body)) {
    std::for_each(collected->paths.begin(), collected->paths.end(), change);
  } else if (auto* deleted = std::get_if<engine::CheckpointsDeleted>(&event.body)) {
    std::for_each(deleted->paths.begin(), deleted->paths.end(), change);
  } else if (auto* created = std::get_if<engine::ExperimentCreated>(&event.body)) {
    if (created->source) {
      change(created->source->path);
    }
  }
}

bool has_paths(const Event& event) {
  const auto* taken = std::get_if<engine::ReportTaken>(&event.body);
  const auto* created = std::get_if<engine::ExperimentCreated>(&event.body);
  return (taken != nullptr && std::holds_alternative<engine::CheckpointReport>(taken->report)) ||
         (created != nullptr && created->source) ||
         std::holds_alternative<engine::CheckpointsCollected>(event.body) ||
         std::holds_alternative<engine::CheckpointsDeleted>(event.body);
}

}  // namespace

void make_paths_relative(Event& event, const std::string& home) {
  change_paths(event, [below = home + "/"](std::string& path) {
    if (path.starts_with(below)) {
      path.erase(0, below.size());
    }
  });
}

void make_paths_absolute(Event& event, const std::string& home) {
  change_paths(event, [&home](std::string& path) {
    if (!path.empty() && path.front() != '/' && !jobs::is_remote(path)) {
      path.insert(0, home + "/");
    }
  });
}

Status RelativePathStore::recover(const Visit& visit) {
  return behind_.recover([this, &visit](Event&& event) {
    make_paths_absolute(event, home_);
    return visit(std::move(event));
  });
}

Status RelativePathStore::append(std::span<const Event> group) {
  if (std::none_of(group.begin(), group.end(), has_paths)) {
    return behind_.append(group);
  }
  std::vector<Event> relative(group.begin(), group.end());
  for (Event& event : relative) {
    make_paths_relative(event, home_);
  }
  return behind_.append(relative);
}

Result<std::vector<Event>> RelativePathStore::absolute(Result<std::vector<Event>> events) const {
  for (std::size_t i = 0; events && i < events->size(); ++i) {
    make_paths_absolute((*events)[i], home_);
  }
  return events;
}

Result<std::vector<Event>> RelativePathStore::read(engine::Lsn after, std::size_t limit) {
  return absolute(behind_.read(after, limit));
}

Result<std::vector<Event>> RelativePathStore::history(engine::ExperimentId experiment,
                                                      engine::TrialNumber trial) {
  return absolute(behind_.history(experiment, trial));
}

}  // namespace hpsearch::daemon
