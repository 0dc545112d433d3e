#include "cli/render/waiting_note.hpp"

#include <algorithm>

#include "cli/render/text.hpp"

namespace hpsearch::cli {
namespace {

// A starting worker has joined within this time.
constexpr std::chrono::seconds patience{2};

std::string without_digits(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }),
             text.end());
  return text;
}

}  // namespace

std::optional<std::string> WaitingNote::heard(const std::string& why, Clock::time_point now) {
  if (why.empty()) {
    since_.reset();
    printed_.clear();
    return std::nullopt;
  }
  since_ = since_.value_or(now);
  const std::string kind = without_digits(why);
  if (now - *since_ < patience || kind == printed_) {
    return std::nullopt;
  }
  printed_ = kind;
  return "no trial runs: " + printable(why);
}

std::string storage_trouble(const Client& client) {
  const auto status = client.get("/api/v1/status");
  return status ? printable(text_at(member(*status, "storage"), "why")) : std::string();
}

}  // namespace hpsearch::cli
