#include "dispatch/swarm.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::bench {
namespace {

constexpr std::chrono::microseconds longest_wait{20'000};
constexpr std::chrono::seconds until_settled{60};

}  // namespace

Swarm::Swarm(std::uint16_t port, std::size_t talkers, const MakeTalker& make) : members_(talkers) {
  poller_ = ::epoll_create1(EPOLL_CLOEXEC);
  HPSEARCH_CHECK(poller_ >= 0, "the bench can wait");
  for (std::size_t i = 0; i < talkers; ++i) {
    Member& member = members_[i];
    member.talker = make(i);
    member.connection =
        std::make_unique<ZmtpConnection>(port, [this, &member](std::span<const std::byte> frame) {
          if (member.talker->on_event(frame)) {
            member.waits = false;
          }
        });
    member.talker->attach(*member.connection);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    HPSEARCH_CHECK(::epoll_ctl(poller_, EPOLL_CTL_ADD, member.connection->descriptor(), &event) == 0,
                   "the bench can wait for its connections");
    member.talker->begin();
  }
  settle();
}

Swarm::~Swarm() {
  ::close(poller_);
}

/// Until everybody may ask.
void Swarm::settle() {
  const Clock::time_point limit = Clock::now() + until_settled;
  Course nothing;
  while (
      !std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.talker->can_ask(); })) {
    listen(longest_wait, nothing, false);
    HPSEARCH_CHECK(Clock::now() < limit, "everybody gets work to begin with");
  }
}

Swarm::Course Swarm::closed_loop(std::chrono::duration<double> time) {
  Course course;
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = start + std::chrono::duration_cast<Clock::duration>(time);
  for (Member& member : members_) {
    if (!member.waits && member.talker->can_ask()) {
      ask(member, Clock::now());
    }
  }
  while (Clock::now() < end) {
    listen(longest_wait, course, true);
  }
  await_replies(course);
  course.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return course;
}

Swarm::Course Swarm::open_loop(double per_second, std::chrono::duration<double> time) {
  Course course;
  const Clock::time_point start = Clock::now();
  const auto requests = static_cast<std::uint64_t>(per_second * time.count());
  std::uint64_t asked = 0;
  std::uint64_t turn = 0;
  while (asked < requests) {
    const Clock::time_point due =
        start + std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(static_cast<double>(asked) / per_second));
    if (Clock::now() < due) {
      listen(std::chrono::duration_cast<std::chrono::microseconds>(due - Clock::now()), course, false);
      continue;
    }
    // The next worker that can ask, in turn; if none can, the request stays due and its waiting counts.
    bool found = false;
    for (std::size_t tried = 0; tried < members_.size() && !found; ++tried) {
      Member& member = members_[turn++ % members_.size()];
      if (!member.waits && member.talker->can_ask()) {
        ask(member, due);
        ++asked;
        found = true;
      }
    }
    if (!found) {
      listen(longest_wait, course, false);
    }
  }
  await_replies(course);
  course.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return course;
}

void Swarm::await_replies(Course& course) {
  while (std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.waits; })) {
    listen(longest_wait, course, false);
  }
}

void Swarm::ask(Member& member, Clock::time_point due) {
  member.waits = true;
  member.due = due;
  member.talker->ask();
}

void Swarm::listen(std::chrono::microseconds at_most, Course& course, bool ask_again) {
  std::array<epoll_event, 256> events;  // Filled by epoll_pwait2().
  const timespec wait{.tv_sec = at_most.count() / 1'000'000,
                      .tv_nsec = (at_most.count() % 1'000'000) * 1'000};
  const int ready = ::epoll_pwait2(poller_, events.data(), static_cast<int>(events.size()), &wait, nullptr);
  for (int i = 0; i < ready; ++i) {
    Member& member = members_[events[static_cast<std::size_t>(i)].data.u64];
    const bool waited = member.waits;
    member.connection->receive();
    if (waited && !member.waits) {
      course.seconds.push_back(std::chrono::duration<double>(Clock::now() - member.due).count());
    }
    if (ask_again && !member.waits && member.talker->can_ask()) {
      ask(member, Clock::now());
    }
  }
}

}  // namespace hpsearch::bench
