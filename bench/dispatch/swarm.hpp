#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dispatch/zmtp_connection.hpp"

namespace hpsearch::bench {

using Clock = std::chrono::steady_clock;

/// One end of a conversation in which each request is followed by its reply.
class Talker {
 public:
  virtual ~Talker() = default;
  /// Sends what begins the conversation.
  virtual void begin() = 0;
  /// True when it may ask; false while the other side owes it something first (a lease).
  [[nodiscard]] virtual bool can_ask() const = 0;
  virtual void ask() = 0;
  /// True when `frame` is the reply to what was asked.
  virtual bool on_event(std::span<const std::byte> frame) = 0;

  void attach(ZmtpConnection& connection) { connection_ = &connection; }

 protected:
  void send(std::span<const std::byte> frame) { connection_->send(frame); }

 private:
  ZmtpConnection* connection_ = nullptr;
};

/// Many talkers, each on its own connection, driven by one thread.
class Swarm {
 public:
  using MakeTalker = std::function<std::unique_ptr<Talker>(std::size_t number)>;

  Swarm(std::uint16_t port, std::size_t talkers, const MakeTalker& make);
  ~Swarm();
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;

  struct Course {
    std::vector<double> seconds;  ///< From each request (or when it was due) to its reply.
    double wall_seconds = 0;
  };
  /// Everybody asks again as soon as it was answered.
  [[nodiscard]] Course closed_loop(std::chrono::duration<double> time);
  /// `per_second` requests in all fall due evenly, whatever the answers take; waiting counts.
  [[nodiscard]] Course open_loop(double per_second, std::chrono::duration<double> time);

 private:
  struct Member {
    std::unique_ptr<Talker> talker;
    std::unique_ptr<ZmtpConnection> connection;
    bool waits = false;
    Clock::time_point due;
  };

  void ask(Member& member, Clock::time_point due);
  void listen(std::chrono::microseconds at_most, Course& course, bool ask_again);
  void await_replies(Course& course);
  void settle();

  int poller_ = -1;
  std::vector<Member> members_;
};

}  // namespace hpsearch::bench
