#include "cli/experiment/prior_results.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "cli/client/trial_pages.hpp"
#include "cli/client/which.hpp"
#include "cli/events/event_pages.hpp"
#include "cli/experiment/known_searchers.hpp"
#include "cli/experiment/prior_table.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/submission.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

constexpr std::size_t largest_prior_file = 64UL * 1024 * 1024;
// A submission is one JSON text of at most 1 MiB, which contains the rest of the experiment too.
constexpr std::size_t largest_prior = 800UL * 1024;

const Value::List* prior_in(const Value& tree) {
  const Value* prior = tree.at_path("searcher.prior");
  return prior == nullptr ? nullptr : prior->as_list();
}

bool is_prior_name(const Value& entry) {
  return entry.as_text() != nullptr || entry.as_integer() != nullptr;
}

Outcome<Value::List> results_of_file(const std::string& name, const ExperimentFile& file) {
  const std::filesystem::path path = std::filesystem::path(file.path).parent_path() / name;
  const LoadedText loaded = load_text(path.string(), FileLimits{.bytes = largest_prior_file});
  if (!loaded.problem.empty()) {
    return usage_failure(loaded.problem);
  }
  if (loaded.text.size() > largest_prior_file) {
    return usage_failure("is larger than 64 MiB");
  }
  engine::Result<Value::List> read = name.ends_with(".csv") ? prior_of_csv(loaded.text, file.config->space)
                                                            : prior_of_json_lines(loaded.text);
  return read ? Outcome<Value::List>(*std::move(read))
              : Outcome<Value::List>(usage_failure(read.error().message));
}

/// Checks that another search measured the same; returns a sentence if it did not.
std::string difference_to(const Value& config, const engine::ExperimentConfig& here) {
  const engine::SearcherConfig& searcher = here.searcher;
  const Value& theirs = member(config, "searcher");
  if (const std::string metric = text_at(theirs, "metric"); metric != searcher.metric) {
    return "has results of the metric \"" + printable(metric) + "\", and this search is by \"" +
           printable(searcher.metric) + "\"";
  }
  if (!(member(theirs, "smaller_is_better") == Value(searcher.smaller_is_better))) {
    return std::string("is a search in which ") + (searcher.smaller_is_better ? "larger" : "smaller") +
           " is better, and in this one " + (searcher.smaller_is_better ? "smaller" : "larger") + " is";
  }
  const Value::Map* length = member(theirs, "max_length").as_map();
  if (length == nullptr || length->size() != 1 || length->begin()->first != here.unit) {
    return "has lengths in " +
           (length == nullptr || length->empty() ? "an unknown unit" : printable(length->begin()->first)) +
           ", and this search in " + printable(here.unit);
  }
  return "";
}

/// The results that its searcher has so far, in that order.
Outcome<Value::List> results_of_search(const std::string& name, const ExperimentFile& file,
                                       const ServerOptions& server, const Output& output) {
  const Outcome<Reached> reached = reach_experiment(server, name, Server::Need::readable, output);
  if (!reached) {
    return reached.failure();
  }
  const Client& client = reached->server.client();
  const Outcome<Value> config = client.get(experiment_target(reached->experiment, "/config"));
  if (!config) {
    return config.failure();
  }
  if (const std::string difference = difference_to(*config, *file.config); !difference.empty()) {
    return usage_failure(difference);
  }
  std::map<std::uint64_t, Value> hparams;
  const auto all = each_trial(
      [&client](const std::string& target) { return client.get(target); }, reached->experiment, {},
      [&hparams](const Value& trial) { hparams[count_at(trial, "trial")] = member(trial, "hparams"); });
  if (!all) {
    return all.failure();
  }
  Value::List list;
  const auto failure = each_event(client, reached->experiment, [&](const Value& event) {
    const auto trial = hparams.find(count_at(event, "trial"));
    if (text_at(event, "type") == "length_reached" && trial != hparams.end()) {
      list.emplace_back(Value::Map{{"hparams", trial->second},
                                   {"length", member(event, "length")},
                                   {"metric", member(event, "metric")}});
    }
  });
  return failure ? Outcome<Value::List>(*failure) : Outcome<Value::List>(std::move(list));
}

bool is_prior_file(const std::string& name) {
  return name.ends_with(".csv") || name.ends_with(".jsonl");
}

/// The list with names replaced by their results; null if one of them has none.
std::optional<Value::List> looked_up(ExperimentFile& file, const ServerOptions& server,
                                     const Output& output) {
  Value::List results;
  const std::size_t before = file.problems.size();
  const Value::List& given = *file.prior.as_list();
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!is_prior_name(given[i])) {
      results.push_back(given[i]);
      continue;
    }
    const std::string name = engine::python_text(given[i]);
    const Outcome<Value::List> found =
        is_prior_file(name) ? results_of_file(name, file) : results_of_search(name, file, server, output);
    if (found) {
      results.insert(results.end(), found->begin(), found->end());
      continue;
    }
    const std::string path = "searcher.prior[" + std::to_string(i) + "]";
    file.problems.push_back(
        {file.lines.line_of(path),
         {path, "is " + engine::quoted(given[i]) + ": " + printable(found.failure().message),
          "a search, or a file that ends with .csv or .jsonl"},
         {}});
  }
  if (file.problems.size() > before) {
    return std::nullopt;
  }
  return results;
}

}  // namespace

bool names_prior(const Value& tree) {
  const Value::List* prior = prior_in(tree);
  return prior != nullptr && std::any_of(prior->begin(), prior->end(), is_prior_name);
}

void read_prior(ExperimentFile& file, const ServerOptions& server, const Output& output) {
  if (file.prior.is_null() || !file.problems.empty()) {
    return;
  }
  std::optional<Value::List> results = looked_up(file, server, output);
  if (!results) {
    file.config.reset();
    return;
  }
  const std::size_t line = file.lines.line_of("searcher.prior");
  Value list(*std::move(results));
  if (engine::compact_json(list).size() > largest_prior) {
    file.problems.push_back({line,
                             {"searcher.prior", "has more than 800 KiB of results",
                              "fewer results: leave out a search, or name a file with some of them"},
                             {}});
    file.config.reset();
    return;
  }
  (*file.tree.as_map()->find("searcher")->as_map())["prior"] = std::move(list);
  jobs::ParsedExperiment parsed = jobs::parse_submission(file.tree, known_searchers(), file.stem, 0);
  for (engine::Problem& problem : parsed.problems) {
    file.problems.push_back({line, std::move(problem), {}});
  }
  for (engine::Problem& note : parsed.notes) {
    if (note.path.starts_with("searcher.prior")) {
      file.notes.push_back({line, std::move(note), {}});
    }
  }
  file.config = std::move(parsed.config);
  file.program = std::move(parsed.program);
}

}  // namespace hpsearch::cli
