#include "daemon/streams/notifier.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "daemon/notifications/delivery.hpp"
#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/best_trial.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using net::Level;

constexpr std::size_t events_per_read = 1'000;
constexpr std::size_t most_senders = 32;  // One receiver that does not answer holds up no other.
constexpr Duration first_pause = Duration::seconds(5);
constexpr Duration longest_pause = Duration::seconds(3'600);
constexpr Duration given_up_after = Duration::seconds(24 * 3'600);
constexpr std::uint64_t events_per_save =
    10'000;  // Without notifications; so many are read again after a crash.

bool is_better(double a, double b, bool smaller_is_better) {
  return smaller_is_better ? a < b : a > b;
}

std::optional<double> best_of(const engine::ExperimentRecord& record) {
  const auto best = engine::best_trial(record);
  return best && record.trials[best->number()].best
             ? std::optional(record.trials[best->number()].best->metric)
             : std::nullopt;
}

}  // namespace

struct Notifier::Route {
  struct Waiting {
    Notification notification;
    engine::Lsn lsn;  ///< Its event's; 0 = a best result.
  };

  Receiver receiver;
  ReceiverProgress progress;
  engine::Lsn saved;
  std::deque<Waiting> waiting;
  engine::Lsn read_to;  ///< What waits is from events up to this one.
  bool busy = false;    ///< It reads, delivers or pauses.
  Duration pause = first_pause;
  std::optional<engine::Instant> failing_since;  ///< Since when the first one that waits cannot be delivered.
  net::Watch retry;
};

Notifier::Notifier(Runtime& runtime, net::Loop& loop, Receivers receivers, std::string directory)
    : runtime_(runtime),
      loop_(loop),
      receivers_(std::move(receivers)),
      directory_(std::move(directory)),
      files_(loop, 1),
      senders_(loop, std::min(most_senders, receivers_.list.size())) {
  for (const Receiver& receiver : receivers_.list) {
    routes_.push_back(std::make_shared<Route>());
    routes_.back()->receiver = receiver;
  }
}

Notifier::~Notifier() {
  if (listening_ != 0) {
    runtime_.stored_events().remove(listening_);
  }
}

void Notifier::start() {
  seen_ = runtime_.engine().last_lsn();
  for (const auto& route : routes_) {
    load(*route);
  }
  listening_ = runtime_.stored_events().add([this](const StoredEvents::Group& group) { see(group); });
  bests_clock_ = loop_.every(std::chrono::microseconds(receivers_.new_best_every.in_micros()), [this] {
    runtime_.when_durable([this, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) {
        see_bests();
      }
    });
  });
  for (const auto& route : routes_) {
    go_on(route);
  }
}

void Notifier::retire(std::function<void()> done) {
  if (listening_ != 0) {
    runtime_.stored_events().remove(std::exchange(listening_, 0));
  }
  bests_clock_ = {};
  is_retired_ = true;
  on_retired_ = std::move(done);
  end_if_idle();
}

void Notifier::end_if_idle() {
  if (!on_retired_ || delivering_ > 0) {
    return;
  }
  // Files are written in order: behind this task, all progress is stored.
  files_.run([this, done = std::exchange(on_retired_, {})]() -> net::Background::Afterwards {
    return [this, done] { loop_.post(done); };
  });
}

void Notifier::load(Route& route) {
  const std::string path = directory_ + "/" + route.receiver.name + ".json";
  const auto text = kernel_files().read(path);
  const auto value = text ? proto::parse_json({reinterpret_cast<const char*>(text->data()), text->size()})
                          : engine::Result<engine::Value>(text.error());
  const auto progress =
      value ? proto::decode_value<ReceiverProgress>(*value) : engine::Result<ReceiverProgress>(value.error());
  if (progress && progress->lsn <= seen_) {
    route.progress = *progress;
  } else {
    if (std::filesystem::exists(path)) {
      net::log(Level::error, "receiver " + route.receiver.name + " is notified from now on only: " + path +
                                 " is not of this store" + (progress ? "" : ": " + progress.error().message));
    }
    route.progress = {seen_, {}};
    for (const auto& [id, record] : runtime_.engine().experiments()) {
      if (const auto best = best_of(record); best && !engine::is_ended(record.state)) {
        route.progress.bests.emplace(std::to_string(id.number()), *best);
      }
    }
    save(route);
  }
  route.saved = route.read_to = route.progress.lsn;
}

void Notifier::save(const Route& route) {
  files_.run([path = directory_ + "/" + route.receiver.name + ".json",
              text = engine::compact_json(proto::encode_value(route.progress))] {
    if (const auto failed =
            files::replace_file(path, text, files::Durability::of_the_disk, files::Readers::owner)) {
      net::log(Level::error, "a receiver may be notified of the same again: " + failed->as_error().message);
    }
    return [] {};
  });
}

void Notifier::see(const StoredEvents::Group& group) {
  const engine::Lsn before = seen_;
  seen_ = std::max(seen_, group->back().lsn);
  const bool is_worth = std::any_of(group->begin(), group->end(), is_worth_notifying);
  for (const auto& route : routes_) {
    if (is_worth) {
      go_on(route);
    } else if (!route->busy && route->progress.lsn == before) {
      route->progress.lsn = route->read_to = seen_;
      if (seen_.number() - route->saved.number() >= events_per_save) {
        route->saved = seen_;
        save(*route);
      }
    }
  }
}

void Notifier::see_bests() {
  for (const auto& route : routes_) {
    if (!route->busy && route->receiver.on.contains(Occasion::new_best)) {
      see_bests_of(*route);
      go_on(route);
    }
  }
}

void Notifier::see_bests_of(Route& route) {
  auto& known = route.progress.bests;
  const std::map<std::string, double> before = known;
  std::set<std::string> present;  // Others were deleted.
  for (const auto& [id, record] : runtime_.engine().experiments()) {
    const auto best = best_of(record);
    const std::string key = std::to_string(id.number());
    present.insert(key);
    const auto at = known.find(key);
    const bool has_ended = engine::is_ended(record.state);
    if (at == known.end()) {
      if (best && !has_ended) {
        known.emplace(key, *best);  // The first result is always the best.
      }
      continue;
    }
    if (best && is_better(*best, at->second, record.config.searcher.smaller_is_better)) {
      auto notification = notification_of_best(record, runtime_.now(), runtime_.cluster(), receivers_.pages);
      if (notification && route.receiver.wants(*notification)) {
        route.waiting.push_back({*std::move(notification), {}});  // It is known when it is delivered.
        continue;
      }
      at->second = *best;
    }
    if (has_ended) {
      known.erase(at);
    }
  }
  std::erase_if(known, [&present](const auto& one) { return !present.contains(one.first); });
  if (known != before) {
    save(route);
  }
}

void Notifier::go_on(const std::shared_ptr<Route>& route) {
  if (route->busy || is_retired_) {
    return;
  }
  if (!route->waiting.empty()) {
    deliver_first(route);
    return;
  }
  route->progress.lsn = route->read_to;
  if (route->read_to >= seen_) {
    return;
  }
  route->busy = true;
  runtime_.read([this, alive = std::weak_ptr<bool>(alive_), route,
                 after = route->read_to](EventStore& store) -> Committer::Then {
    return [this, alive, route, events = store.read(after, events_per_read)] {
      if (alive.expired()) {
        return;
      }
      if (!events) {
        net::log(Level::error,
                 "receiver " + route->receiver.name + " is not notified for now: " + events.error().message);
        pause(route);
        return;
      }
      route->busy = false;
      if (!events->empty()) {
        take(route, *events);
      }
    };
  });
}

void Notifier::take(const std::shared_ptr<Route>& route, const std::vector<engine::Event>& events) {
  for (const engine::Event& event : events) {
    auto notification = notification_of(event, runtime_.engine(), runtime_.cluster(), receivers_.pages);
    if (notification && route->receiver.wants(*notification)) {
      route->waiting.push_back({*std::move(notification), event.lsn});
    }
  }
  route->read_to = events.back().lsn;
  go_on(route);
}

void Notifier::deliver_first(const std::shared_ptr<Route>& route) {
  route->busy = true;
  ++delivering_;
  const Route::Waiting& first = route->waiting.front();
  senders_.run([this, route, notification = first.notification]() -> net::Background::Afterwards {
    const engine::Status delivered = deliver(notification, route->receiver, receivers_.sendmail);
    return [this, route, delivered] {
      --delivering_;
      take_answer(route, delivered);
      end_if_idle();
    };
  });
}

void Notifier::pause(const std::shared_ptr<Route>& route) {
  route->retry = loop_.after(std::chrono::microseconds(route->pause.in_micros()),
                             [this, weak = std::weak_ptr<Route>(route)] {
                               if (const auto held = weak.lock()) {
                                 held->busy = false;
                                 go_on(held);
                               }
                             });
  route->pause = std::min(longest_pause, route->pause + route->pause);
}

void Notifier::take_answer(const std::shared_ptr<Route>& route, const engine::Status& delivered) {
  const engine::Instant now = runtime_.now();
  const bool is_given_up =
      !delivered && route->failing_since && now - *route->failing_since >= given_up_after;
  if (!delivered && !is_given_up) {
    if (!route->failing_since) {
      route->failing_since = now;
      net::log(Level::warning, "receiver " + route->receiver.name +
                                   " could not be notified and will be again: " + delivered.error().message);
    }
    pause(route);
    return;
  }
  const Route::Waiting done = std::move(route->waiting.front());
  route->waiting.pop_front();
  if (is_given_up) {
    net::log(Level::error, "receiver " + route->receiver.name +
                               " was not notified for a day, which is given up: " + done.notification.text +
                               "; " + delivered.error().message);
  } else if (route->failing_since) {
    net::log(Level::info, "receiver " + route->receiver.name + " is notified again");
  }
  route->failing_since.reset();
  route->pause = first_pause;
  if (done.lsn.number() > 0) {
    route->progress.lsn = done.lsn;
  } else if (done.notification.best_metric) {
    route->progress.bests[std::to_string(done.notification.experiment->number())] =
        *done.notification.best_metric;
  }
  if (route->waiting.empty()) {
    route->progress.lsn = route->read_to;
  }
  route->saved = route->progress.lsn;
  save(*route);
  route->busy = false;
  go_on(route);
}

}  // namespace hpsearch::daemon
