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

/// Changes that clients asked for under an Idempotency-Key, and what they were answered, for 24 hours.
///
/// The log has those that changed the engine's state (RequestTaken), in the same commit as the change.
/// Answers are in memory only: after a restart such a request is known to be done, and is answered with what
/// it changed as that is then. Only successes are kept: a refused request changed nothing, and may be made
/// again. Threads: one.
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
  /// Nothing: it has no Idempotency-Key. bad_request: see check_key.
  [[nodiscard]] static engine::Result<std::optional<Name>> name_of(const std::string& caller,
                                                                   const net::HttpRequest& request);

  enum class Known : std::uint8_t {
    no,
    running,        ///< It is not answered yet.
    other_request,  ///< The key was used for another request.
    answered,       ///< answer_to() has the answer.
    done,           ///< It changed what the log has; its answer is lost with an earlier daemon, or forgotten.
    forgotten,      ///< It changed something else, and its answer is forgotten.
  };
  [[nodiscard]] Known look_up(const Name& name, engine::Instant now);
  /// Of one that is answered: until the next call of anything here.
  [[nodiscard]] const net::HttpResponse& answer_to(const Name& name) const;

  /// To be called for one that is not known, or done, before it is carried out.
  void begin(const Name& name, engine::Instant now);
  void end(const Name& name, const net::HttpResponse& answer);
  /// The log has it.
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
  std::deque<std::pair<engine::Instant, std::string>> by_age_;  ///< Keys; some are gone or younger.
  std::deque<std::string> answered_;  ///< Keys in the order of their answers; the same.
  std::size_t answer_bytes_ = 0;
};

}  // namespace hpsearch::daemon
