#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "hpsearch/engine/experiment/workspace.hpp"

namespace hpsearch::daemon {

/// The workspaces that labels name: the default one and the first others, a limited number. The rest are
/// summed as "other".
class WorkspaceNames {
 public:
  static constexpr std::size_t most = 30;

  WorkspaceNames() = default;
  explicit WorkspaceNames(const engine::Workspaces& workspaces);

  /// The label for a workspace.
  [[nodiscard]] std::string_view shown(std::string_view workspace) const;

 private:
  std::set<std::string, std::less<>> names_{std::string(engine::default_workspace)};
};

}  // namespace hpsearch::daemon
