#include "daemon/http/answered_requests.hpp"

#include <algorithm>
#include <string_view>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::daemon {

using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::Result;

engine::Status AnsweredRequests::check_key(const net::HttpRequest& request) {
  const std::string_view key = request.header("Idempotency-Key");
  if (key.size() > most_key_bytes) {
    return Error{Errc::bad_request, "the Idempotency-Key is longer than 200 bytes"};
  }
  if (!std::all_of(key.begin(), key.end(), [](char byte) { return byte >= ' ' && byte <= '~'; })) {
    return Error{Errc::bad_request, "the Idempotency-Key has bytes that are not printable ASCII"};
  }
  return engine::Done{};
}

Result<std::optional<AnsweredRequests::Name>> AnsweredRequests::name_of(const std::string& caller,
                                                                        const net::HttpRequest& request) {
  const std::string_view key = request.header("Idempotency-Key");
  if (const engine::Status checked = check_key(request); key.empty() || !checked) {
    return checked ? Result<std::optional<Name>>(std::optional<Name>()) : checked.error();
  }
  std::string whole = request.method + "\n" + request.path + "\n";
  for (const auto& [name, value] : request.query) {
    whole.append(std::to_string(name.size())).append(" ").append(name).append("=");
    whole.append(std::to_string(value.size())).append(" ").append(value).append("\n");
  }
  whole += "\n" + request.body;
  return std::optional(Name{files::sha256_of(caller + "\n" + std::string(key)), files::sha256_of(whole)});
}

AnsweredRequests::Known AnsweredRequests::look_up(const Name& name, Instant now) {
  make_room(now);
  const auto found = entries_.find(name.key);
  if (found == entries_.end()) {
    return Known::no;
  }
  const Entry& entry = found->second;
  if (entry.request != name.request) {
    return Known::other_request;
  }
  return entry.running  ? Known::running
         : entry.answer ? Known::answered
         : entry.logged ? Known::done
                        : Known::forgotten;
}

const net::HttpResponse& AnsweredRequests::answer_to(const Name& name) const {
  const auto found = entries_.find(name.key);
  HPSEARCH_CHECK(found != entries_.end() && found->second.answer, "it was answered");
  return *found->second.answer;
}

void AnsweredRequests::begin(const Name& name, Instant now) {
  entry(name.key, name.request, now).running = true;
}

void AnsweredRequests::end(const Name& name, const net::HttpResponse& answer) {
  const auto found = entries_.find(name.key);
  if (found == entries_.end()) {
    return;
  }
  Entry& entry = found->second;
  entry.running = false;
  if (answer.status / 100 == 2) {
    forget_answer(entry);
    entry.answer = answer;
    entry.done = true;
    answer_bytes_ += answer.body.size();
    answered_.push_back(name.key);
    while (answer_bytes_ > most_answer_bytes && !answered_.empty()) {
      if (const auto oldest = entries_.find(answered_.front()); oldest != entries_.end()) {
        forget_answer(oldest->second);
      }
      answered_.pop_front();
    }
  } else if (!entry.done) {
    erase(name.key);
  }
}

void AnsweredRequests::note(const engine::RequestTaken& event, Instant at) {
  Entry& taken = entry(event.key, event.request, at);
  taken.done = true;
  taken.logged = true;
  if (entries_.size() > most_requests) {
    make_room(at);
  }
}

AnsweredRequests::Entry& AnsweredRequests::entry(const std::string& key, const std::string& request,
                                                 Instant at) {
  const auto [found, is_new] = entries_.try_emplace(key);
  Entry& entry = found->second;
  if (is_new || entry.request != request) {
    forget_answer(entry);
    entry = Entry{request, at};
    by_age_.emplace_back(at, key);
  }
  return entry;
}

void AnsweredRequests::forget_answer(Entry& entry) noexcept {
  if (entry.answer) {
    answer_bytes_ -= entry.answer->body.size();
    entry.answer.reset();
  }
}

void AnsweredRequests::erase(const std::string& key) {
  if (const auto found = entries_.find(key); found != entries_.end()) {
    forget_answer(found->second);
    entries_.erase(found);
  }
}

void AnsweredRequests::make_room(Instant now) {
  while (!by_age_.empty() && (by_age_.front().first + kept_for <= now || entries_.size() > most_requests)) {
    const auto [at, key] = std::move(by_age_.front());
    by_age_.pop_front();
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.at != at) {
      continue;
    }
    if (found->second.running) {  // Its answer has not been made yet.
      found->second.at = now;
      by_age_.emplace_back(now, key);
      if (entries_.size() > most_requests) {
        return;
      }
      continue;
    }
    erase(key);
  }
}

}  // namespace hpsearch::daemon
