#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// Changes that clients requested with an Idempotency-Key, and their answers, for 24 hours.
///
/// The log has the requests that changed the engine's state (RequestTaken), in the same commit as the change.
/// Answers are in memory only: after a restart such a request is known to be done, and the answer shows the
/// changed object in its current state. Only successes are kept: a refused request changed nothing, and may
/// be made again. Threads: one.
class AnsweredRequests {
 public:
  static constexpr engine::Duration kept_for = engine::Duration::seconds(24LL * 3600);
  static constexpr std::size_t most_requests = 20'000;
  static constexpr std::size_t most_answer_bytes = std::size_t{32} << 20U;
  static constexpr std::size_t most_key_bytes = 200;

  /// Identifies a request; both are SHA-256.
  struct Name {
    std::string key;
    std::string request;
  };
  /// bad_request: there is an Idempotency-Key, and it is not up to 200 bytes of printable ASCII.
  [[nodiscard]] static engine::Status check_key(const net::HttpRequest& request);
  /// Null: it has no Idempotency-Key. bad_request: see check_key.
  [[nodiscard]] static engine::Result<std::optional<Name>> name_of(const std::string& caller,
                                                                   const net::HttpRequest& request);

  enum class Known : std::uint8_t {
    no,
    running,        ///< It is not answered yet.
    other_request,  ///< The key was used for another request.
    answered,       ///< answer_to() has the answer.
    done,           ///< The log has its change; its answer was lost with an earlier daemon, or dropped.
    forgotten,      ///< It changed something that the log doesn't have, and its answer was dropped.
  };
  [[nodiscard]] Known look_up(const Name& name, engine::Instant now);
  /// The answer of a request in the state `answered`, valid until the next call of any function.
  [[nodiscard]] const net::HttpResponse& answer_to(const Name& name) const;

  /// Must be called before a request is carried out that is not known, or `done`.
  void begin(const Name& name, engine::Instant now);
  void end(const Name& name, const net::HttpResponse& answer);
  /// Records that the log has it.
  void note(const engine::RequestTaken& event, engine::Instant at);

 private:
  struct Entry {
    std::string request;
    engine::Instant at;
    bool running = false;
    bool done = false;
    bool logged = false;  ///< The log has what it changed.
    std::optional<net::HttpResponse> answer{};
  };
  Entry& entry(const std::string& key, const std::string& request, engine::Instant at);
  void forget_answer(Entry& entry) noexcept;
  void erase(const std::string& key);
  void make_room(engine::Instant now);

  std::map<std::string, Entry> entries_;                        ///< By key.
  std::deque<std::pair<engine::Instant, std::string>> by_age_;  ///< Keys; some have been removed or are
                                                                ///< younger now.
  std::deque<std::string> answered_;  ///< Keys in the order of their answers; the same.
  std::size_t answer_bytes_ = 0;
};

}  // namespace hpsearch::daemon
