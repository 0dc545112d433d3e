#include "daemon/metrics/workspace_names.hpp"

namespace hpsearch::daemon {

WorkspaceNames::WorkspaceNames(const engine::Workspaces& workspaces) {
  for (const auto& [name, workspace] : workspaces) {
    if (names_.size() == most) {
      break;
    }
    names_.insert(name);
  }
}

std::string_view WorkspaceNames::shown(std::string_view workspace) const {
  const auto found = names_.find(workspace);
  return found == names_.end() ? std::string_view("other") : std::string_view(*found);
}

}  // namespace hpsearch::daemon
