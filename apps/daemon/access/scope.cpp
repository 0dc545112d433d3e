#include "daemon/access/scope.hpp"

#include <algorithm>
#include <utility>

namespace hpsearch::daemon {

Scope::Scope(std::vector<std::string> names) : names_(std::move(names)) {
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

bool Scope::has(std::string_view workspace) const noexcept {
  return is_all() || std::binary_search(names_.begin(), names_.end(), workspace);
}

std::vector<std::string> Scope::listed() const {
  return is_all() ? std::vector{std::string(everything)} : names_;
}

std::string Scope::text() const {
  std::string text;
  for (const std::string& name : names_) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return is_all() ? std::string(everything) : text;
}

}  // namespace hpsearch::daemon
