#include "daemon/alloc/kubernetes/api_client.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <thread>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/http/tls_request.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon::kubernetes {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;

constexpr std::chrono::seconds answer_limit{30};
constexpr std::chrono::seconds usual_pause{1};
constexpr std::chrono::seconds longest_pause{10};  ///< The next list tries again anyway.
constexpr std::uint64_t most_answer = std::uint64_t{64} * 1024 * 1024;
constexpr int page_size = 200;
constexpr int most_restarts = 3;

bool is_header(std::string_view given, std::string_view wanted) {
  return std::equal(given.begin(), given.end(), wanted.begin(), wanted.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

/// The text of `299 - "TEXT"`.
std::string warning_text(std::string_view value) {
  const std::size_t begin = value.find('"');
  const std::size_t end = value.rfind('"');
  return begin == std::string_view::npos || end <= begin
             ? std::string(value)
             : std::string(value.substr(begin + 1, end - begin - 1));
}

std::string text_of_member(const Value& value, std::string_view path) {
  const Value* found = value.at_path(path);
  return found == nullptr || found->as_text() == nullptr ? "" : *found->as_text();
}

}  // namespace

std::string ApiAnswer::problem() const {
  const std::string message = text_of_member(content, "message");
  return message.empty() ? "the API of Kubernetes answered with status " + std::to_string(status) : message;
}

Result<ApiAnswer> ApiClient::ask_once(const std::string& method, const std::string& target,
                                      const std::string& body, std::chrono::seconds& retry_after) const {
  const auto way = access();
  if (!way) {
    return way.error();
  }
  net::HttpHeaders headers{{"Accept", "application/json, */*"}, {"User-Agent", "hpsearchd"}};
  if (!way->token.empty()) {
    headers.emplace_back("Authorization", "Bearer " + way->token);
  }
  const auto response = net::tls_request(way->address, method, way->prefix + target, body, answer_limit,
                                         headers, {most_answer}, way->tls);
  if (!response) {
    return response.error();
  }
  ApiAnswer answer{.status = response->status, .text = response->body};
  for (const auto& [name, value] : response->headers) {
    if (is_header(name, "warning")) {
      answer.warnings += (answer.warnings.empty() ? "" : "; ") + warning_text(value);
    } else if (is_header(name, "retry-after")) {
      retry_after = std::chrono::seconds(engine::number_in<std::uint32_t>(value).value_or(1));
    }
  }
  constexpr proto::JsonLimits limits{.bytes = most_answer, .depth = 100, .nodes = 5'000'000};
  if (auto content = proto::parse_json(response->body, limits)) {
    answer.content = *std::move(content);
  }
  return answer;
}

Result<ApiAnswer> ApiClient::ask(const std::string& method, const std::string& target,
                                 const Value& body) const {
  const std::string text = body.is_null() ? "" : engine::compact_json(body);
  std::chrono::seconds pause = usual_pause;
  auto answer = ask_once(method, target, text, pause);
  const bool was_cut = !answer && answer.error().code == Errc::unavailable && method == "GET";
  const bool is_busy = answer && (answer->status == 429 || answer->status == 503);
  const bool is_unknown = answer && answer->status == 401;
  if (is_busy) {
    std::this_thread::sleep_for(std::min(pause, longest_pause));
  }
  return was_cut || is_busy || is_unknown ? ask_once(method, target, text, pause) : answer;
}

Result<Value::List> ApiClient::list(const std::string& path, const std::string& query) const {
  Value::List items;
  std::string next;
  for (int restarts = 0; true;) {
    const auto answer =
        ask("GET", path + "?limit=" + std::to_string(page_size) + (query.empty() ? "" : "&" + query) +
                       (next.empty() ? "" : "&continue=" + net::percent_encoded(next)));
    if (!answer) {
      return answer.error();
    }
    if (answer->status == 410 && restarts++ < most_restarts) {
      items.clear();
      next.clear();
      continue;
    }
    if (!answer->succeeded()) {
      return Error{Errc::unavailable, answer->problem()};
    }
    const Value* page = answer->content.at_path("items");
    if (page == nullptr || (page->as_list() == nullptr && !page->is_null())) {
      return Error{Errc::unavailable, "the API of Kubernetes answered without a list"};
    }
    if (page->as_list() != nullptr) {
      items.insert(items.end(), page->as_list()->begin(), page->as_list()->end());
    }
    next = text_of_member(answer->content, "metadata.continue");
    if (next.empty()) {
      return items;
    }
  }
}

}  // namespace hpsearch::daemon::kubernetes
