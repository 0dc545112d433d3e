#include "daemon/streams/event_feed.hpp"

#include <algorithm>
#include <utility>

#include "daemon/streams/open_streams.hpp"
#include "hpsearch/io/http/event_stream.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::size_t events_per_read = 256;
constexpr std::size_t most_reads = 4;     // Reads at once: commits wait for those before them.
constexpr std::size_t most_encoding = 2;  // Batches of one subscriber being encoded.
constexpr std::size_t enough_unsent_bytes = std::size_t{512} * 1024;  // Unsent bytes of one subscriber, and …
constexpr std::size_t enough_of_all_bytes = std::size_t{16} << 20U;  // … of all that read the store.
constexpr std::size_t least_events_per_read = 16;
constexpr std::uint64_t events_per_bare_id = 10'000;
// A turn of the loop is then a tenth of a millisecond: requests that wait for a few turns are hardly delayed.
constexpr std::size_t subscribers_per_turn = 8;

}  // namespace

struct EventFeed::Subscriber {
  std::shared_ptr<net::HttpBody> body;
  Selection selection;
  engine::Lsn sent_to;  ///< Everything up to there was sent or is not selected.
  engine::Lsn read_to;
  std::uint64_t skipped = 0;  ///< Events since the last one that was sent.
  std::size_t encoding = 0;
  bool waits_for_read = false;
  bool live = false;
};

/// The selected events of a batch.
struct EventFeed::Text {
  Selection selection;
  std::shared_ptr<const std::string> text;
  std::vector<std::pair<engine::Lsn, std::size_t>> begins;  ///< Where each event begins.
};

struct EventFeed::Batch {
  engine::Lsn first;
  engine::Lsn last;
  std::uint64_t events = 0;
  std::vector<Text> texts;
};

EventFeed::~EventFeed() {
  if (listening_ != 0) {
    stored_.remove(listening_);
  }
}

std::shared_ptr<const EventFeed::Batch> EventFeed::encode(const std::vector<StoredEvents::Group>& groups,
                                                          const std::vector<Selection>& selections) {
  auto batch = std::make_shared<Batch>();
  batch->first = groups.front()->front().lsn;
  batch->last = groups.back()->back().lsn;
  std::vector<std::string> texts(selections.size());
  for (const Selection& selection : selections) {
    batch->texts.push_back({selection, nullptr, {}});
  }
  for (const StoredEvents::Group& group : groups) {
    for (const engine::Event& event : *group) {
      ++batch->events;
      std::string encoded;
      for (std::size_t i = 0; i < selections.size(); ++i) {
        if (!selections[i]->takes(event)) {
          continue;
        }
        if (encoded.empty()) {
          encoded = stream_text(event);
        }
        batch->texts[i].begins.emplace_back(event.lsn, texts[i].size());
        texts[i] += encoded;
      }
    }
  }
  for (std::size_t i = 0; i < selections.size(); ++i) {
    batch->texts[i].text = std::make_shared<const std::string>(std::move(texts[i]));
  }
  return batch;
}

void EventFeed::send(Subscriber& subscriber, const Batch& batch, const Text& text) {
  const auto first = std::upper_bound(
      text.begins.begin(), text.begins.end(), subscriber.sent_to,
      [](engine::Lsn lsn, const std::pair<engine::Lsn, std::size_t>& begin) { return lsn < begin.first; });
  if (first == text.begins.end()) {
    subscriber.skipped += batch.last.number() - subscriber.sent_to.number();
    if (subscriber.skipped >= events_per_bare_id) {
      subscriber.skipped = 0;
      subscriber.body->write(net::message_text(std::to_string(batch.last.number()), "", ""));
    }
  } else {
    subscriber.skipped = batch.last.number() - text.begins.back().first.number();
    write_or_cut(*subscriber.body, first == text.begins.begin()
                                       ? text.text
                                       : std::make_shared<const std::string>(*text.text, first->second));
  }
  subscriber.sent_to = batch.last;
}

EventFeed::Selection EventFeed::shared(const EventSelection& selection) const {
  for (const auto& subscriber : subscribers_) {
    if (*subscriber->selection == selection) {
      return subscriber->selection;
    }
  }
  return std::make_shared<const EventSelection>(selection);
}

void EventFeed::follow(std::shared_ptr<net::HttpBody> body, const EventSelection& selection,
                       engine::Lsn after) {
  if (listening_ == 0) {
    listening_ = stored_.add([this](const StoredEvents::Group& group) { take_live(group); });
  }
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->selection = shared(selection);
  subscriber->sent_to = subscriber->read_to = after;
  subscriber->body = std::move(body);
  const std::weak_ptr<bool> alive = alive_;
  const std::weak_ptr<Subscriber> weak = subscriber;
  subscriber->body->on_closed([this, alive] {
    if (!alive.expired()) {
      remove_closed();
    }
  });
  subscriber->body->on_drained([this, alive, weak] {
    if (const auto held = weak.lock(); held != nullptr && !alive.expired()) {
      read_on(held);
    }
  });
  subscribers_.push_back(subscriber);
  read_on(subscriber);
}

void EventFeed::remove_closed() {
  std::erase_if(subscribers_, [](const auto& subscriber) { return !subscriber->body->is_open(); });
  if (subscribers_.empty() && listening_ != 0) {
    stored_.remove(listening_);
    listening_ = 0;
    pending_.clear();
  }
}

std::size_t EventFeed::its_part(std::size_t of_one) const {
  return of_one / std::max<std::size_t>(1, subscribers_.size() * enough_unsent_bytes / enough_of_all_bytes);
}

void EventFeed::read_on(const std::shared_ptr<Subscriber>& subscriber) {
  if (subscriber->live || subscriber->waits_for_read || subscriber->encoding >= most_encoding ||
      !subscriber->body->is_open() || subscriber->body->unsent() > its_part(enough_unsent_bytes)) {
    return;
  }
  subscriber->waits_for_read = true;
  waiting_reads_.push_back(subscriber);
  begin_reads();
}

void EventFeed::begin_reads() {
  while (reads_ < most_reads && !waiting_reads_.empty()) {
    const std::shared_ptr<Subscriber> subscriber = std::move(waiting_reads_.front());
    waiting_reads_.pop_front();
    ++reads_;
    runtime_.read([this, alive = std::weak_ptr<bool>(alive_), subscriber, after = subscriber->read_to,
                   most = std::max(its_part(events_per_read), least_events_per_read)](
                      EventStore& store) -> Committer::Then {
      auto read = store.read(after, most);
      if (!read) {
        net::log(net::Level::error, "a stream of events breaks off: " + read.error().message);
      }
      StoredEvents::Group events =
          read ? std::make_shared<const std::vector<engine::Event>>(*std::move(read)) : nullptr;
      return [this, alive, subscriber, events = std::move(events)] {
        if (!alive.expired()) {
          --reads_;
          subscriber->waits_for_read = false;
          take_read(subscriber, events);
          begin_reads();
        }
      };
    });
  }
}

void EventFeed::take_read(const std::shared_ptr<Subscriber>& subscriber, StoredEvents::Group events) {
  if (!subscriber->body->is_open()) {
    return;
  }
  if (events == nullptr) {
    subscriber->body->cut();
    remove_closed();
    return;
  }
  if (events->empty()) {
    // Later live events follow what was read, so there is no gap; the subscriber may have read some of them
    // already.
    subscriber->live = subscriber->encoding == 0 && subscriber->read_to >= seen_;
    if (!subscriber->live && subscriber->encoding == 0) {
      read_on(subscriber);
    }
    return;
  }
  subscriber->read_to = events->back().lsn;
  ++subscriber->encoding;
  old_.run([this, subscriber, events = std::move(events)]() -> net::Background::Afterwards {
    const auto batch = encode({events}, {subscriber->selection});
    return [this, subscriber, batch] {
      --subscriber->encoding;
      if (subscriber->body->is_open()) {
        send(*subscriber, *batch, batch->texts.front());
      }
      read_on(subscriber);
    };
  });
  read_on(subscriber);
}

void EventFeed::take_live(const StoredEvents::Group& group) {
  seen_ = group->back().lsn;
  pending_.push_back(group);
  if (!encoding_) {
    encode_live();
  }
}

void EventFeed::encode_live() {
  remove_closed();
  auto to = std::make_shared<Subscribers>();
  std::vector<Selection> selections;
  for (const auto& subscriber : subscribers_) {
    if (subscriber->live) {
      to->push_back(subscriber);
      if (std::find(selections.begin(), selections.end(), subscriber->selection) == selections.end()) {
        selections.push_back(subscriber->selection);
      }
    }
  }
  if (pending_.empty() || to->empty()) {
    pending_.clear();  // Subscribers that read the store find them there.
    encoding_ = false;
    return;
  }
  encoding_ = true;
  live_.run([this, to, groups = std::exchange(pending_, {}),
             selections = std::move(selections)]() -> net::Background::Afterwards {
    const auto batch = encode(groups, selections);
    return [this, to, batch] { deliver(batch, to); };
  });
}

void EventFeed::deliver(const std::shared_ptr<const Batch>& batch, const std::shared_ptr<Subscribers>& to) {
  for (std::size_t i = 0; i < subscribers_per_turn && !to->empty(); ++i) {
    const std::shared_ptr<Subscriber> subscriber = std::move(to->back());
    to->pop_back();
    if (!subscriber->body->is_open() || batch->last <= subscriber->sent_to) {
      continue;
    }
    const auto text = std::find_if(batch->texts.begin(), batch->texts.end(),
                                   [&](const Text& one) { return one.selection == subscriber->selection; });
    send(*subscriber, *batch, *text);
    subscriber->read_to = subscriber->sent_to;
  }
  if (to->empty()) {
    encode_live();
    return;
  }
  runtime_.loop().post([this, alive = std::weak_ptr<bool>(alive_), batch, to] {
    if (!alive.expired()) {
      deliver(batch, to);
    }
  });
}

}  // namespace hpsearch::daemon
