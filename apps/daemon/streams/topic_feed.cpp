#include "daemon/streams/topic_feed.hpp"

#include <algorithm>
#include <utility>

#include "daemon/streams/event_selection.hpp"
#include "daemon/streams/open_streams.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/http/event_stream.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Value;
using Kind = TopicName::Kind;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_every{50};
constexpr std::chrono::milliseconds between_messages{250};
constexpr std::chrono::milliseconds between_silent_looks{1'000};
constexpr int share_of_loop = 20;  // A topic may take a twentieth of the loop's time.
constexpr std::size_t most_topics = 32;
constexpr std::size_t slow_reader_bytes = std::size_t{256} * 1024;
constexpr std::size_t bodies_per_turn = 64;

constexpr std::pair<Kind, std::string_view> kinds[] = {{Kind::experiments, "experiments"},
                                                       {Kind::experiment, "experiment"},
                                                       {Kind::trials, "trials"},
                                                       {Kind::workers, "workers"},
                                                       {Kind::cluster, "cluster"}};

bool is_of_experiment(Kind kind) {
  return kind == Kind::experiment || kind == Kind::trials;
}

Value count(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

/// Writes to some in each turn of the loop: reports must not wait for all.
void write_in_turns(net::Timeline& loop,
                    const std::shared_ptr<std::vector<std::shared_ptr<net::HttpBody>>>& to,
                    const std::shared_ptr<const std::string>& text) {
  for (std::size_t i = 0; i < bodies_per_turn && !to->empty(); ++i) {
    write_or_cut(*to->back(), text);
    to->pop_back();
  }
  if (!to->empty()) {
    loop.post([&loop, to, text] { write_in_turns(loop, to, text); });
  }
}

}  // namespace

std::string TopicName::text() const {
  const auto found =
      std::find_if(std::begin(kinds), std::end(kinds), [this](const auto& one) { return one.first == kind; });
  return std::string(found->second) +
         (is_of_experiment(kind) ? ":" + std::to_string(experiment.number()) : "");
}

engine::Result<std::vector<TopicName>> read_topics(std::string_view list) {
  std::vector<TopicName> topics;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view text = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    const std::string_view word = text.substr(0, text.find(':'));
    const std::string_view digits = text.substr(std::min(text.size(), word.size() + 1));
    const auto found =
        std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& one) { return one.second == word; });
    const auto given = engine::number_in<std::uint64_t>(digits);
    const std::uint64_t number = given.value_or(0);
    const bool is_right = found != std::end(kinds) &&
                          (is_of_experiment(found->first) ? given.has_value() : text.size() == word.size());
    if (!is_right) {
      return Error{Errc::bad_request,
                   "topics has \"" + std::string(text) +
                       "\"; a topic is experiments, experiment:NUMBER, trials:NUMBER, workers or cluster"};
    }
    const TopicName topic{found->first, engine::ExperimentId(number), {}, {}};
    if (std::find(topics.begin(), topics.end(), topic) == topics.end()) {
      topics.push_back(topic);
    }
  }
  if (topics.empty() || topics.size() > most_topics) {
    return Error{Errc::bad_request, "topics has to name 1 to " + std::to_string(most_topics) +
                                        " topics, for example experiments,workers"};
  }
  return topics;
}

TopicFeed::TopicFeed(Runtime& runtime, StoredEvents& stored, Values values)
    : runtime_(runtime), stored_(stored), values_(std::move(values)) {
}

TopicFeed::~TopicFeed() {
  if (listening_ != 0) {
    stored_.remove(listening_);
  }
}

void TopicFeed::follow(const std::shared_ptr<net::HttpBody>& body, const std::vector<TopicName>& topics) {
  if (listening_ == 0) {
    listening_ = stored_.add([this](const StoredEvents::Group& group) {
      for (const engine::Event& event : *group) {
        note(event);
      }
    });
    watch_ = runtime_.loop().every(look_every, [this] { look(); });
  }
  for (const TopicName& name : topics) {
    topics_[name].fresh.push_back(body);
  }
}

void TopicFeed::note(const engine::Event& event) {
  const auto experiment = experiment_of(event.body);
  const auto mark = [this](Kind kind, engine::ExperimentId id, std::uint64_t number) {
    // Followers of different scopes and languages have topics of their own, next to each other.
    for (auto found = topics_.lower_bound({kind, id, {}, {}});
         found != topics_.end() && found->first.kind == kind && found->first.experiment == id; ++found) {
      found->second.dirty.insert(number);
    }
  };
  mark(Kind::cluster, {}, 0);
  if (!std::holds_alternative<engine::ReportTaken>(event.body)) {
    for (auto found = topics_.lower_bound({Kind::workers, {}, {}, {}});
         found != topics_.end() && found->first.kind == Kind::workers; ++found) {
      found->second.look_at = {};  // A check finds which of them changed.
    }
  }
  if (experiment) {
    mark(Kind::experiments, {}, experiment->number());
    mark(Kind::experiment, *experiment, 0);
    if (const auto trial = trial_of(event.body)) {
      mark(Kind::trials, *experiment, trial->number());
    }
  }
}

void TopicFeed::remove_closed() {
  const auto is_closed = [](const auto& body) { return !body->is_open(); };
  for (auto topic = topics_.begin(); topic != topics_.end();) {
    std::erase_if(topic->second.fresh, is_closed);
    std::erase_if(topic->second.live, is_closed);
    topic =
        topic->second.fresh.empty() && topic->second.live.empty() ? topics_.erase(topic) : std::next(topic);
  }
  if (topics_.empty() && listening_ != 0) {
    stored_.remove(listening_);
    listening_ = 0;
    watch_ = net::Watch{};
  }
}

void TopicFeed::look() {
  remove_closed();
  if (runtime_.stalled()) {
    return;  // Nothing becomes durable now.
  }
  for (auto& [name, topic] : topics_) {
    const auto begin = steady_clock::now();
    if (begin < topic.not_before) {
      continue;
    }
    if (begin >= topic.look_at) {
      topic.look_at = begin + between_silent_looks;
      look_for_silent_changes(name, topic);
    }
    const bool has_sent = send(name, topic);
    topic.not_before =
        begin + std::max<steady_clock::duration>(has_sent ? between_messages : look_every / 2,
                                                 share_of_loop * (steady_clock::now() - begin));
  }
}

void TopicFeed::look_for_silent_changes(const TopicName& name, Topic& topic) {
  const auto compare = [&topic](std::uint64_t number, std::uint64_t row, std::string now) {
    std::string& before = topic.sent[number];
    if (before != now) {
      before = std::move(now);
      topic.dirty.insert(row);
    }
  };
  switch (name.kind) {
    case Kind::workers:
      for (const auto& [id, worker] : runtime_.engine().workers()) {
        if (!engine::is_external(worker)) {
          compare(id.number(), id.number(),
                  engine::compact_json(values_.worker(worker, name.language, name.scope)));
        }
      }
      std::erase_if(topic.sent, [&](const auto& entry) {
        const bool was_forgotten = !runtime_.engine().workers().contains(engine::WorkerId(entry.first));
        if (was_forgotten) {
          topic.dirty.insert(entry.first);
        }
        return was_forgotten;
      });
      break;
    case Kind::experiments:
      for (const auto& [id, record] : runtime_.engine().experiments()) {
        if (!engine::is_ended(record.state) && shows(name, id.number())) {
          compare(id.number(), id.number(), values_.waits_for(record, name.language));
        }
      }
      break;
    case Kind::experiment:
      if (const auto* record = runtime_.engine().find(name.experiment); record != nullptr) {
        compare(0, 0, values_.waits_for(*record, name.language));
      }
      break;
    case Kind::cluster:
    case Kind::trials:
      break;
  }
}

bool TopicFeed::send(const TopicName& name, Topic& topic) {
  bool has_sent = false;
  Bodies ready;
  std::erase_if(topic.fresh, [&ready](const auto& body) {
    const bool takes_it = body->unsent() < slow_reader_bytes;
    if (takes_it) {
      ready.push_back(body);
    }
    return takes_it;
  });
  if (name.kind == Kind::experiments) {
    std::erase_if(topic.dirty, [&](std::uint64_t number) { return !shows(name, number); });
  }
  if (!topic.dirty.empty() && !topic.live.empty()) {
    std::erase_if(topic.live, [&topic](const auto& body) {
      const bool is_slow = body->unsent() >= slow_reader_bytes;
      if (is_slow) {
        topic.fresh.push_back(body);
      }
      return is_slow;
    });
    tell(name, rows_of(name, topic.dirty), topic.live);
    has_sent = true;
  }
  topic.dirty.clear();
  if (!ready.empty()) {
    topic.live.insert(topic.live.end(), ready.begin(), ready.end());
    tell(name, all_of(name), std::move(ready));
    has_sent = true;
  }
  return has_sent;
}

bool TopicFeed::shows(const TopicName& name, std::uint64_t experiment) const {
  const engine::ExperimentId id(experiment);
  if (const auto* record = runtime_.engine().find(id); record != nullptr) {
    return name.scope.is_all() || name.scope.has(engine::workspace_of(record->config));
  }
  const auto deleted = runtime_.engine().deleted().find(id);
  return name.scope.is_all() ||
         (deleted != runtime_.engine().deleted().end() && name.scope.has(deleted->second.workspace));
}

Value::Map TopicFeed::all_of(const TopicName& name) const {
  std::set<std::uint64_t> numbers{0};
  if (name.kind == Kind::experiments) {
    numbers.clear();
    for (const auto& [id, record] : runtime_.engine().experiments()) {
      if (shows(name, id.number()) && !record.archived) {
        numbers.insert(id.number());
      }
    }
  } else if (name.kind == Kind::workers) {
    numbers.clear();
    for (const auto& [id, worker] : runtime_.engine().workers()) {
      numbers.insert(id.number());
    }
  } else if (name.kind == Kind::trials) {
    numbers.clear();
    const auto* record = runtime_.engine().find(name.experiment);
    for (std::uint64_t trial = 0; record != nullptr && trial < record->trials.size(); ++trial) {
      numbers.insert(numbers.end(), trial);
    }
  }
  Value::Map message = rows_of(name, numbers);
  message["full"] = !message.contains("changed");
  return message;
}

Value::Map TopicFeed::rows_of(const TopicName& name, const std::set<std::uint64_t>& numbers) const {
  const engine::Engine& engine = runtime_.engine();
  if (numbers.size() > most_rows) {
    return {{"changed", count(numbers.size())}};
  }
  const engine::ExperimentRecord* record = engine.find(name.experiment);
  Value::List rows;
  Value::List removed;
  switch (name.kind) {
    case Kind::cluster:
      return {{"status", values_.status(name.scope, name.language)}};
    case Kind::experiment:
      return {{"experiment", record != nullptr ? values_.detail(*record, name.language) : Value()}};
    case Kind::trials:
      for (const std::uint64_t trial : numbers) {
        if (record != nullptr && trial < record->trials.size()) {
          rows.push_back(proto::encode_value(
              api::trial_of(*record, engine::TrialNumber(trial), runtime_.now(), name.language)));
        }
      }
      return {{"trials", std::move(rows)}};
    case Kind::experiments:
      for (const std::uint64_t number : numbers) {
        if (const auto* one = engine.find(engine::ExperimentId(number)); one != nullptr && !one->archived) {
          rows.push_back(values_.summary(*one, name.language));
        } else {
          removed.push_back(count(number));
        }
      }
      if (!removed.empty()) {
        return {{"experiments", std::move(rows)}, {"removed", std::move(removed)}};
      }
      return {{"experiments", std::move(rows)}};
    case Kind::workers:
      for (const std::uint64_t number : numbers) {
        if (const auto found = engine.workers().find(engine::WorkerId(number));
            found != engine.workers().end() && !engine::is_external(found->second)) {
          rows.push_back(values_.worker(found->second, name.language, name.scope));
        } else if (engine.forgotten_workers().contains(engine::WorkerId(number))) {
          removed.push_back(count(number));
        }
      }
      if (!removed.empty()) {
        return {{"workers", std::move(rows)}, {"removed", std::move(removed)}};
      }
      return {{"workers", std::move(rows)}};
  }
  return {};
}

void TopicFeed::tell(const TopicName& name, Value::Map message, Bodies to) {
  const std::uint64_t lsn = runtime_.engine().last_lsn().number();
  message["topic"] = name.text();
  message["lsn"] = count(lsn);
  auto text = std::make_shared<const std::string>(
      net::message_text(std::to_string(lsn), name.text(), engine::compact_json(message)));
  runtime_.when_durable([&loop = runtime_.loop(), to = std::make_shared<Bodies>(std::move(to)),
                         text = std::move(text)] { write_in_turns(loop, to, text); });
}

}  // namespace hpsearch::daemon
