#include "hpsearch/search.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/search.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/preview.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "saved_text.hpp"

namespace api = hpsearch::api;
namespace engine = hpsearch::engine;
namespace proto = hpsearch::proto;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Search;
using engine::TrialNumber;
using engine::Value;

#define HPSEARCH_API __attribute__((visibility("default")))

struct hpsearch_search {
  std::optional<Search> search;
  std::vector<engine::Event> events;
  engine::Problems problems;  ///< Of its configuration.
  std::string answer;
  std::optional<std::string> error;
};

namespace {

constexpr std::string_view no_memory = R"({"error":{"code":"internal","message":"no memory"}})";

// A configuration comes from the program itself.
constexpr proto::JsonLimits own_text{std::size_t{1} << 40, 64, std::size_t{1} << 40};

Value whole(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

std::string text_of(const Error& error, const engine::Problems& problems) {
  return engine::compact_json(Value::Map{{"error", proto::encode_value(api::error_of(error, problems))}});
}

Search::EventSink keep_in(hpsearch_search& handle) {
  return [&events = handle.events](const engine::Event& event) { events.push_back(event); };
}

/// What `use` returns, kept in the handle; NULL and its error if it failed or threw.
const char* answer(hpsearch_search* handle, const std::function<Result<std::string>()>& use) noexcept {
  try {
    Result<std::string> text = use();
    if (text) {
      handle->answer = std::move(text).value();
      handle->error.reset();
      return handle->answer.c_str();
    }
    handle->error = text_of(text.error(), handle->problems);
  } catch (const std::bad_alloc&) {
    handle->error.emplace(no_memory);
  } catch (const std::exception& fault) {
    handle->error = engine::compact_json(
        Value::Map{{"error", Value::Map{{"code", "internal"}, {"message", std::string(fault.what())}}}});
  }
  return nullptr;
}

using Use = std::function<Result<std::string>(Search&)>;

const char* use(hpsearch_search* handle, const Use& with) noexcept {
  if (handle == nullptr) {
    return nullptr;
  }
  if (!handle->search) {
    return nullptr;  // The error is that of its opening.
  }
  return answer(handle, [&] { return with(*handle->search); });
}

hpsearch_search* made(const std::function<engine::Status(hpsearch_search&)>& open) noexcept {
  auto* handle = new (std::nothrow) hpsearch_search;
  if (handle == nullptr) {
    return nullptr;
  }
  const char* opened = answer(handle, [&]() -> Result<std::string> {
    if (const engine::Status status = open(*handle); !status) {
      return status.error();
    }
    return std::string();
  });
  if (opened == nullptr) {
    handle->search.reset();
  }
  return handle;
}

Result<Value> read(const char* text, std::string_view what) {
  if (text == nullptr) {
    return Error{Errc::bad_request, std::string(what) + " is NULL"};
  }
  auto value = proto::parse_json(text, own_text);
  if (!value) {
    return Error{Errc::bad_request, std::string(what) + " isn't JSON: " + value.error().message};
  }
  return value;
}

engine::Status open(hpsearch_search& handle, const char* config, std::uint64_t slots) {
  const Result<Value> tree = read(config, "config");
  if (!tree) {
    return tree.error();
  }
  const engine::SearcherRegistry registry = hpsearch::searchers::registry();
  engine::ParsedConfig parsed = engine::parse_config(Search::completed(*tree), registry, "search", 0);
  if (!parsed.problems.empty()) {
    handle.problems = std::move(parsed.problems);
    return Error{Errc::bad_request, "the configuration is wrong"};
  }
  auto search = Search::open(*tree, registry, slots, keep_in(handle));
  if (!search) {
    return search.error();
  }
  handle.search.emplace(std::move(search).value());
  return engine::Done{};
}

engine::Status load(hpsearch_search& handle, const char* saved) {
  if (saved == nullptr) {
    return Error{Errc::bad_request, "saved is NULL"};
  }
  auto read = hpsearch::c_api::read_saved(saved);
  if (!read) {
    return read.error();
  }
  const std::vector<engine::Event> before = *std::move(read);
  handle.events = before;
  auto search = Search::restore(before, hpsearch::searchers::registry(), keep_in(handle));
  if (!search) {
    return search.error();
  }
  handle.search.emplace(std::move(search).value());
  return engine::Done{};
}

std::optional<engine::ExitReason> reason_named(std::string_view state) {
  if (state == "failed") {
    return engine::ExitReason::errored;
  }
  if (state == "invalid_hyperparameters") {
    return engine::ExitReason::invalid_hp;
  }
  if (state == "canceled") {
    return engine::ExitReason::user_canceled;
  }
  if (state == "stopped") {
    return engine::ExitReason::user_stopped;
  }
  return std::nullopt;
}

std::string_view word_of(engine::Directive directive) {
  return directive == engine::Directive::train_on ? "continue"
         : directive == engine::Directive::pause  ? "pause"
                                                  : "stop";
}

}  // namespace

extern "C" {

HPSEARCH_API hpsearch_search* hpsearch_open(const char* config, uint64_t slots) {
  return made([&](hpsearch_search& handle) { return open(handle, config, slots); });
}

HPSEARCH_API hpsearch_search* hpsearch_load(const char* saved) {
  return made([&](hpsearch_search& handle) { return load(handle, saved); });
}

HPSEARCH_API void hpsearch_close(hpsearch_search* search) {
  delete search;
}

HPSEARCH_API const char* hpsearch_error(hpsearch_search* search) {
  if (search == nullptr) {
    return no_memory.data();
  }
  return search->error ? search->error->c_str() : nullptr;
}

HPSEARCH_API const char* hpsearch_ask(hpsearch_search* search) {
  return use(search, [](Search& open) -> Result<std::string> {
    const auto work = open.ask();
    if (!work) {
      return std::string("null");
    }
    return engine::compact_json(Value::Map{
        {"trial", whole(work->trial.number())},
        {"hparams", work->hparams},
        {"from", whole(engine::count(work->from))},
        {"length", whole(engine::count(work->length))},
        {"seed", whole(engine::trial_seed(open.experiment().config.experiment_seed, work->trial))}});
  });
}

HPSEARCH_API const char* hpsearch_report(hpsearch_search* search, uint64_t trial, uint64_t step,
                                         double metric) {
  return use(search, [&](Search& open) -> Result<std::string> {
    const auto decision = open.report(TrialNumber(trial), engine::Units{step}, metric);
    if (!decision) {
      return decision.error();
    }
    return R"({"directive":")" + std::string(word_of(decision->directive)) + R"(","length":)" +
           std::to_string(engine::count(decision->length)) + "}";
  });
}

HPSEARCH_API const char* hpsearch_tell(hpsearch_search* search, uint64_t trial, const char* state,
                                       const char* why) {
  return use(search, [&](Search& open) -> Result<std::string> {
    const std::string_view named = state == nullptr ? "" : state;
    const auto reason = reason_named(named);
    if (!reason) {
      return Error{Errc::bad_request,
                   "state is \"" + std::string(named) +
                       "\"; it must be failed, invalid_hyperparameters, canceled or stopped"};
    }
    const auto ended = open.give_up(TrialNumber(trial), *reason, why == nullptr ? "" : why);
    if (!ended) {
      return ended.error();
    }
    return std::string("{}");
  });
}

HPSEARCH_API const char* hpsearch_best(hpsearch_search* search) {
  return use(search, [](Search& open) -> Result<std::string> {
    const auto best = open.best();
    if (!best) {
      return std::string("null");
    }
    return engine::compact_json(Value::Map{{"trial", whole(best->trial.number())},
                                           {"hparams", best->hparams},
                                           {"metric", best->metric},
                                           {"step", whole(engine::count(best->step))}});
  });
}

HPSEARCH_API const char* hpsearch_state(hpsearch_search* search) {
  return use(search, [](Search& open) -> Result<std::string> {
    Value summary = proto::encode_value(api::summary_of(open.experiment()));
    (*summary.as_map())["finished"] = open.finished();
    return engine::compact_json(summary);
  });
}

HPSEARCH_API const char* hpsearch_explain(hpsearch_search* search, uint64_t trial) {
  return use(search, [&](Search& open) -> Result<std::string> {
    const auto explanation = open.explain(TrialNumber(trial));
    if (!explanation) {
      return explanation.error();
    }
    return engine::compact_json(
        proto::encode_value(api::explanation_of(open.experiment(), TrialNumber(trial), *explanation)));
  });
}

HPSEARCH_API const char* hpsearch_preview(hpsearch_search* search) {
  return use(search, [](Search& open) -> Result<std::string> {
    const engine::ExperimentConfig& config = open.experiment().config;
    return proto::to_json(
        engine::find_kind(hpsearch::searchers::registry(), config.searcher.name)->preview(config));
  });
}

HPSEARCH_API const char* hpsearch_save(hpsearch_search* search) {
  return use(search,
             [&](Search&) -> Result<std::string> { return hpsearch::c_api::saved_text(search->events); });
}

}  // extern "C"
