#include "forged/forged_logs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/open_end.hpp"
#include "hpsearch/engine/search.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/search.h"
#include "hpsearch/searchers/registry.hpp"
#include "simulation/engine_life.hpp"

namespace hpsearch::forged {

using engine::Value;

namespace {

Lines lines_of(const std::vector<engine::Event>& events) {
  Lines lines;
  for (const engine::Event& event : events) {
    lines.push_back(proto::to_value(event));
  }
  return lines;
}

class Forger {
  template <class List>
  auto& any(List& list) {
    return list[below(list.size())];
  }

 public:
  Forger(const std::vector<Lines>& logs, std::mt19937_64& random) : logs_(logs), random_(random) {}

  Lines next() {
    Lines lines = any(logs_);
    for (std::size_t left = 1 + below(3); left > 0; --left) {
      change(lines);
    }
    for (std::size_t i = 0; i < lines.size() && !keeps_numbers_; ++i) {
      if (Value::Map* event = lines[i].as_map()) {
        (*event)["lsn"] = static_cast<std::int64_t>(i + 1);
      }
    }
    return lines;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  /// A value somewhere below `value`, and its key.
  struct Place {
    Value* value = nullptr;
    std::string key;
  };
  Place any_place(Value& value) {
    Place place{&value, ""};
    for (int depth = 0; depth < 12; ++depth) {
      if (Value::Map* map = place.value->as_map(); map != nullptr && !map->empty()) {
        const std::string key =
            std::next(map->begin(), static_cast<std::ptrdiff_t>(below(map->size())))->first;
        place = {map->find(key), key};
      } else if (Value::List* list = place.value->as_list(); list != nullptr && !list->empty()) {
        place.value = &any(*list);
      } else {
        break;
      }
      if (place.value->as_map() == nullptr || below(8) == 0) {
        if (place.value->as_list() == nullptr || below(2) == 0) {
          break;
        }
      }
    }
    return place;
  }

  Value another_number(const Value& before) {
    constexpr std::array<std::int64_t, 14> odd{0,
                                               1,
                                               2,
                                               -1,
                                               3,
                                               65535,
                                               100000,
                                               1 << 20,
                                               std::int64_t{1} << 31,
                                               (std::int64_t{1} << 32) - 1,
                                               std::int64_t{1} << 40,
                                               std::int64_t{1} << 53,
                                               std::int64_t{1} << 62,
                                               std::numeric_limits<std::int64_t>::max()};
    const auto* integer = before.as_integer();
    switch (below(5)) {
      case 0:
        return any(odd);
      case 1:
        return integer != nullptr && *integer < (std::int64_t{1} << 62) ? Value(*integer + 1) : Value(1.5);
      case 2:
        return integer != nullptr ? Value(*integer - (*integer > 0 ? 1 : 0)) : Value(-1e300);
      case 3:
        return static_cast<std::int64_t>(below(6));
      default:
        return integer != nullptr ? Value(std::numeric_limits<double>::quiet_NaN())
                                  : Value(before.number_or(0) * 2);
    }
  }

  /// What stands under the same key, or anything, in another line.
  std::optional<Value> part_of_another(const Lines& lines, const std::string& key) {
    for (int tries = 0; tries < 20; ++tries) {
      Value line = below(4) == 0 ? any(any(logs_)) : any(lines);
      const Place place = any_place(line);
      if (key.empty() || place.key == key || tries > 15) {
        return *place.value;
      }
    }
    return std::nullopt;
  }

  void change(Lines& lines) {
    if (lines.empty()) {
      return;
    }
    const std::size_t at = below(lines.size());
    switch (below(16)) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        return;
      case 1: {
        const Value again = lines[at];
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size() + 1)), again);
        return;
      }
      case 2:
        std::swap(lines[at], lines[std::min(at + 1 + below(4), lines.size() - 1)]);
        return;
      case 3:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), any(any(logs_)));
        return;
      case 4:
        lines.resize(at);
        return;
      case 5:
        keeps_numbers_ = below(4) == 0;
        return;
      case 6: {  // A field goes.
        Value::Map* map = lines[at].as_map();
        if (map != nullptr && !map->empty()) {
          map->erase(
              std::string(std::next(map->begin(), static_cast<std::ptrdiff_t>(below(map->size())))->first));
        }
        return;
      }
      default:
        change_a_value(lines, lines[at]);
    }
  }

  void change_a_value(const Lines& lines, Value& line) {
    const Place place = any_place(line);
    Value& value = *place.value;
    if (below(3) == 0) {
      if (std::optional<Value> other = part_of_another(lines, place.key)) {
        value = std::move(*other);
      }
    } else if (value.is_number()) {
      value = another_number(value);
    } else if (Value::List* list = value.as_list()) {
      if (list->empty() || below(3) == 0) {
        list->push_back(list->empty() ? Value(static_cast<std::int64_t>(below(4))) : any(*list));
      } else {
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(below(list->size())));
      }
    } else if (value.as_bool() != nullptr) {
      value = !*value.as_bool();
    } else if (value.as_text() != nullptr) {
      value = below(2) == 0 ? Value("") : Value(*value.as_text() + "x");
    } else if (Value::Map* map = value.as_map()) {
      const std::string key = map->empty() ? "x" : std::string(map->begin()->first);
      if (below(2) == 0) {
        map->erase(key);
      } else {
        (*map)[key] = static_cast<std::int64_t>(below(5));
      }
    } else {
      value = static_cast<std::int64_t>(below(5));
    }
  }

  const std::vector<Lines>& logs_;
  std::mt19937_64& random_;
  bool keeps_numbers_ = false;
};

/// Each of its functions, and work until nothing is left or it was enough.
void use(hpsearch_search* search) {
  hpsearch_state(search);
  hpsearch_best(search);
  hpsearch_preview(search);
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    hpsearch_explain(search, trial);
  }
  for (int turn = 0; turn < 12; ++turn) {
    const char* work = hpsearch_ask(search);
    const auto asked = work == nullptr ? std::nullopt : std::optional(proto::parse_json(work));
    if (!asked || !*asked || (*asked)->as_map() == nullptr) {
      break;
    }
    const auto trial = static_cast<std::uint64_t>(*(*asked)->at_path("trial")->as_integer());
    const auto length = static_cast<std::uint64_t>(*(*asked)->at_path("length")->as_integer());
    if (turn % 5 == 4) {
      hpsearch_tell(search, trial, turn % 2 == 0 ? "failed" : "invalid_hyperparameters", "why");
    } else {
      hpsearch_report(search, trial, length, 1.0 / (turn + 1));
    }
  }
  HPSEARCH_CHECK(hpsearch_save(search) != nullptr, "a search that was loaded can be saved");
}

bool says_where(const std::string& message) {
  return message.find("line ") != std::string::npos || message.find("event ") != std::string::npos ||
         message.find("saved ends") != std::string::npos ||
         message.find("these are the events of") != std::string::npos;
}

}  // namespace

std::vector<Lines> logs_of_clusters(std::uint64_t seed, int count) {
  std::vector<Lines> logs;
  for (int number = 0; number < count; ++number) {
    simulation::EngineLife life(seed + static_cast<std::uint64_t>(number));
    life.join_two_workers();
    life.submit(life.some_config());
    life.live(60);
    if (number % 4 == 3) {
      life.restore_store();
    }
    life.live(60);
    logs.push_back(lines_of(life.log()));
  }
  return logs;
}

std::vector<Lines> logs_of_searches(std::uint64_t seed, int count) {
  std::vector<Lines> logs;
  for (int number = 0; number < count; ++number) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(number));
    std::vector<engine::Event> events;
    simulation::EngineLife life(random());
    auto search = engine::Search::open(life.some_config(), searchers::registry(), 1 + random() % 3,
                                       [&](const engine::Event& event) { events.push_back(event); });
    if (!search) {
      continue;
    }
    for (int turn = 0; turn < 15; ++turn) {
      const auto work = search->ask();
      if (!work) {
        break;
      }
      if (random() % 6 == 0) {
        static_cast<void>(search->give_up(work->trial, static_cast<engine::ExitReason>(random() % 4), "why"));
      } else if (random() % 6 != 0) {  // Else it is still out when the search is saved.
        static_cast<void>(search->report(work->trial, work->length, static_cast<double>(random() % 100)));
      }
    }
    logs.push_back(lines_of(events));
  }
  return logs;
}

Lines forge(const std::vector<Lines>& logs, std::mt19937_64& random) {
  return Forger(logs, random).next();
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const Value& line : lines) {
    text += engine::compact_json(line) + "\n";
  }
  return text;
}

std::string with_checksums(std::string_view lines) {
  std::string text;
  std::uint32_t crc = 0;
  const auto add = [&](std::string_view line) {
    crc = proto::crc32c(crc, std::as_bytes(std::span(line)));
    std::array<char, 10> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x ", static_cast<unsigned>(crc));
    text.append(digits.data()).append(line).append("\n");
  };
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    add(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  add("end");
  return text;
}

Outcome replay(const Lines& lines, std::uint64_t seed, std::string* why) {
  std::string unused;
  std::string& reason = why == nullptr ? unused : *why;
  engine::Engine engine(searchers::registry());
  engine.skip_first_look();
  for (const Value& line : lines) {
    const auto event = proto::event_of(line);
    if (!event) {
      return Outcome::no_events;
    }
    if (const engine::Status taken = engine.replay(*event); !taken) {
      reason = taken.error().message;
      HPSEARCH_CHECK(says_where(reason), "an error says where");
      return Outcome::refused;
    }
  }
  for (const auto& [id, record] : engine.experiments()) {
    reason = engine::open_end(record);
    if (!reason.empty()) {
      return Outcome::refused;
    }
  }
  simulation::EngineLife life(seed, std::move(engine));
  life.join_two_workers();
  life.live(40);
  for (const auto& [id, record] : life.engine().experiments()) {
    static_cast<void>(api::summary_of(record));
  }
  return Outcome::lived_on;
}

Outcome load(std::string_view text) {
  hpsearch_search* search = hpsearch_load(with_checksums(text).c_str());
  HPSEARCH_CHECK(search != nullptr, "there is memory");
  Outcome outcome = Outcome::lived_on;
  if (const char* error = hpsearch_error(search)) {
    const std::string message = error;
    HPSEARCH_CHECK(says_where(message), message.c_str());
    outcome = Outcome::refused;
  } else {
    use(search);
  }
  hpsearch_close(search);
  return outcome;
}

}  // namespace hpsearch::forged
