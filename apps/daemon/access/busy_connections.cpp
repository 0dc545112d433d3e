#include "daemon/access/busy_connections.hpp"

namespace hpsearch::daemon {

std::shared_ptr<const void> BusyConnections::take(const std::string& token) {
  const std::scoped_lock lock(counts_->mutex);
  std::size_t& count = counts_->of_tokens[token];
  if (count == most_of_a_token) {
    return nullptr;
  }
  ++count;
  return {static_cast<const void*>(this), [counts = counts_, token](const void*) {
            const std::scoped_lock releases(counts->mutex);
            if (const auto found = counts->of_tokens.find(token); --found->second == 0) {
              counts->of_tokens.erase(found);
            }
          }};
}

std::size_t BusyConnections::count(const std::string& token) const {
  const std::scoped_lock lock(counts_->mutex);
  const auto found = counts_->of_tokens.find(token);
  return found == counts_->of_tokens.end() ? 0 : found->second;
}

}  // namespace hpsearch::daemon
