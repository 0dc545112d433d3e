#include "daemon/blobs/log_requests.hpp"

#include <vector>

namespace hpsearch::daemon {
namespace {

constexpr std::size_t most_open = 1'000;

}  // namespace

std::optional<std::uint64_t> LogRequests::next_number() {
  if (open_.size() >= most_open) {
    return std::nullopt;
  }
  return ++numbers_;
}

void LogRequests::add(std::uint64_t number, engine::WorkerId worker, LogAnswer answer, engine::Instant now) {
  open_.emplace(number, Request{worker, std::move(answer), now + patience_});
}

void LogRequests::take(engine::WorkerId worker, const proto::LogPart& part) {
  const auto found = open_.find(part.request);
  if (found == open_.end() || found->second.worker != worker) {
    return;
  }
  const LogAnswer answer = std::move(found->second.answer);
  open_.erase(found);
  answer(part);
}

void LogRequests::expire(engine::Instant now, const std::function<std::string(engine::WorkerId)>& name_of) {
  std::vector<std::pair<engine::WorkerId, LogAnswer>> late;
  std::erase_if(open_, [&](auto& entry) {
    if (entry.second.deadline > now) {
      return false;
    }
    late.emplace_back(entry.second.worker, std::move(entry.second.answer));
    return true;
  });
  for (const auto& [worker, answer] : late) {
    silent_.insert(worker);
    answer(engine::Error{engine::Errc::unavailable,
                         "worker \"" + name_of(worker) + "\", which has this log, does not answer"});
  }
}

void LogRequests::fail_all(const engine::Error& error) {
  for (const auto& [number, request] : std::exchange(open_, {})) {
    request.answer(error);
  }
}

}  // namespace hpsearch::daemon
