// The C library decides as the engine does: the same events for the same configuration, seed and metrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/search.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/search.h"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch {
namespace {

using engine::Value;

std::string configuration(const std::string& searcher, int seed) {
  return R"({"hyperparameters": {"lr": {"type": "log", "minval": -4, "maxval": 0, "count": 4},
             "width": {"type": "int", "minval": 8, "maxval": 64, "count": 3},
             "kind": {"type": "categorical", "vals": ["a", "b"]}},
             "max_restarts": 1, "searcher": {"metric": "loss", "max_length": 27, )" +
         searcher + R"(}, "reproducibility": {"experiment_seed": )" + std::to_string(seed) + "}}";
}

double loss(const Value& hparams, std::uint64_t length) {
  const double rate = std::log10(hparams.at_path("lr")->number_or(1));
  return length % 7 == 3 && rate > -0.5 ? std::nan("")
                                        : (rate + 2) * (rate + 2) + 1 / static_cast<double>(length);
}

/// Some of the work fails or has invalid parameters; which, by number.
enum class Way : std::uint8_t { measured, failed, invalid };
Way way_of(std::uint64_t asked) {
  return asked % 11 == 5 ? Way::failed : asked % 13 == 7 ? Way::invalid : Way::measured;
}

std::string events_of_engine(const std::string& config, std::uint64_t slots) {
  std::string events;
  auto search = engine::Search::open(
      *proto::parse_json(config), searchers::registry(), slots,
      [&](const engine::Event& event) { events += engine::compact_json(proto::to_value(event)) + "\n"; });
  EXPECT_TRUE(search) << search.error().message;
  std::uint64_t asked = 0;
  std::vector<engine::Search::Work> out;
  for (;;) {
    while (const auto work = search->ask()) {
      out.push_back(*work);
    }
    if (out.empty()) {
      return events;
    }
    const engine::Search::Work work = out.back();
    out.pop_back();
    const Way way = way_of(asked++);
    if (way != Way::measured) {
      EXPECT_TRUE(search->give_up(
          work.trial, way == Way::failed ? engine::ExitReason::errored : engine::ExitReason::invalid_hp,
          "why"));
      continue;
    }
    engine::Decision decision{{}, engine::Directive::train_on, work.length};
    while (decision.directive == engine::Directive::train_on) {
      decision =
          search->report(work.trial, decision.length, loss(work.hparams, engine::count(decision.length)))
              .value();
    }
  }
}

/// The events of a saved search, one on each line.
std::string without_checksums(std::string_view saved) {
  std::string events;
  while (!saved.empty()) {
    const std::string_view line = saved.substr(0, saved.find('\n') + 1).substr(9);
    events += line == "end\n" ? "" : line;
    saved.remove_prefix(saved.find('\n') + 1);
  }
  return events;
}

/// The same through C.
std::string events_of_library(const std::string& config, std::uint64_t slots) {
  hpsearch_search* search = hpsearch_open(config.c_str(), slots);
  EXPECT_EQ(hpsearch_error(search), nullptr);
  std::uint64_t asked = 0;
  std::vector<Value> out;
  for (;;) {
    for (;;) {
      const Value work = *proto::parse_json(hpsearch_ask(search));
      if (work.is_null()) {
        break;
      }
      out.push_back(work);
    }
    if (out.empty()) {
      std::string events = without_checksums(hpsearch_save(search));
      hpsearch_close(search);
      return events;
    }
    const Value work = out.back();
    out.pop_back();
    const auto trial = static_cast<std::uint64_t>(*work.at_path("trial")->as_integer());
    const Way way = way_of(asked++);
    if (way != Way::measured) {
      EXPECT_NE(
          hpsearch_tell(search, trial, way == Way::failed ? "failed" : "invalid_hyperparameters", "why"),
          nullptr);
      continue;
    }
    auto length = static_cast<std::uint64_t>(*work.at_path("length")->as_integer());
    for (;;) {
      const char* text = hpsearch_report(search, trial, length, loss(*work.at_path("hparams"), length));
      if (text == nullptr) {
        ADD_FAILURE() << hpsearch_error(search);
        return {};
      }
      const Value decision = *proto::parse_json(text);
      if (*decision.at_path("directive")->as_text() != "continue") {
        break;
      }
      length = static_cast<std::uint64_t>(*decision.at_path("length")->as_integer());
    }
  }
}

TEST(CLibrary, DecidesAsTheEngineDoes) {
  const std::vector<std::string> searchers = {
      R"("name": "adaptive_asha", "max_trials": 60)",
      R"("name": "adaptive_asha", "max_trials": 40, "mode": "aggressive", "divisor": 3, "stop_once": true)",
      R"("name": "async_halving", "max_trials": 50, "num_rungs": 3)",
      R"("name": "random", "max_trials": 20)",
      R"("name": "grid")",
      R"("name": "random", "max_trials": 40, "sampler": "model")",
  };
  for (const std::string& searcher : searchers) {
    for (const std::uint64_t slots : {1U, 5U}) {
      const std::string config = configuration(searcher, static_cast<int>(slots) + 10);
      const std::string expected = events_of_engine(config, slots);
      EXPECT_GT(expected.size(), 1000U);
      EXPECT_EQ(events_of_library(config, slots), expected) << searcher << ", " << slots << " slots";
    }
  }
}

TEST(CLibrary, ALoadedSearchGoesOnWhereItWas) {
  const std::string config = configuration(R"("name": "adaptive_asha", "max_trials": 30)", 4);
  hpsearch_search* search = hpsearch_open(config.c_str(), 3);
  for (int i = 0; i < 3; ++i) {
    ASSERT_NE(std::string(hpsearch_ask(search)), "null");
  }
  ASSERT_EQ(std::string(hpsearch_ask(search)), "null");
  ASSERT_NE(hpsearch_report(search, 1, 1, 0.5), nullptr);
  const std::string saved = hpsearch_save(search);
  hpsearch_close(search);
  for (int life = 0; life < 2; ++life) {  // A program may be lost more than once.
    search = hpsearch_load(saved.c_str());
    ASSERT_EQ(hpsearch_error(search), nullptr) << hpsearch_error(search);
    std::vector<std::int64_t> out;
    for (;;) {
      const Value work = *proto::parse_json(hpsearch_ask(search));
      if (work.is_null()) {
        break;
      }
      out.push_back(*work.at_path("trial")->as_integer());
    }
    EXPECT_EQ(out.size(), 3U);
    EXPECT_NE(std::find(out.begin(), out.end(), 0), out.end()) << "trial 0 was out and comes again";
    EXPECT_NE(std::find(out.begin(), out.end(), 2), out.end()) << "trial 2 was out and comes again";
    const Value best = *proto::parse_json(hpsearch_best(search));
    EXPECT_EQ(*best.at_path("trial")->as_integer(), 1);
    hpsearch_close(search);
  }
}

TEST(CLibrary, SaysWhichLineOfASavedSearchIsWrong) {
  const std::string config = configuration(R"("name": "random", "max_trials": 3)", 4);
  hpsearch_search* search = hpsearch_open(config.c_str(), 1);
  std::string saved = hpsearch_save(search);
  hpsearch_close(search);
  const auto complaint = [](const std::string& text) -> std::string {
    hpsearch_search* loaded = hpsearch_load(text.c_str());
    const char* error = hpsearch_error(loaded);
    std::string said = error == nullptr ? "" : error;
    hpsearch_close(loaded);
    return said;
  };
  EXPECT_EQ(complaint(saved), "");
  const std::size_t second = saved.find('\n') + 1;
  std::string more = saved;
  more.insert(second, "00000000 {\"lsn\": 2}\n");
  EXPECT_NE(complaint(more).find("line 2 of saved is damaged"), std::string::npos) << complaint(more);
  EXPECT_NE(complaint(saved + saved).find("follows its end"), std::string::npos) << complaint(saved + saved);
  // One changed byte in six was loaded without a word, others ended the program.
  for (std::size_t at = 0; at < saved.size(); ++at) {
    std::string changed = saved;
    changed[at] = static_cast<char>(changed[at] == '7' ? '8' : '7');
    EXPECT_NE(complaint(changed), "") << "byte " << at;
    EXPECT_NE(complaint(saved.substr(0, at)), "") << "cut at byte " << at;
  }
  search = hpsearch_load("");
  ASSERT_NE(hpsearch_error(search), nullptr);
  hpsearch_close(search);
}

}  // namespace
}  // namespace hpsearch
