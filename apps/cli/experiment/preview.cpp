#include "hpsearch/proto/api/preview.hpp"

#include <algorithm>
#include <limits>

#include "cli/experiment/cluster_check.hpp"
#include "cli/experiment/file_report.hpp"
#include "cli/experiment/known_searchers.hpp"
#include "cli/experiment/prior_results.hpp"
#include "cli/experiment/start_check.hpp"
#include "cli/render/space_table.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Cardinality;
using engine::Preview;

/// "70 to 15, 17 to 62, 4 to 250, 1 to 1000": how many trials train to each length.
std::string reach_text(const engine::BracketPreview& bracket) {
  std::string out;
  for (std::size_t rung = 0; rung < bracket.lengths.size(); ++rung) {
    out += (out.empty() ? "" : ", ") + engine::to_text(bracket.reach[rung]) + " to " +
           std::to_string(engine::count(bracket.lengths[rung]));
  }
  return out;
}

std::string length_text(Cardinality sum) {
  return sum == engine::past_counting ? "more than 3.4 * 10^38" : engine::to_text(sum);
}

std::string preview_text(const Preview& preview, const engine::ExperimentConfig& config) {
  const engine::SearcherConfig& searcher = config.searcher;
  std::string out = printable(config.name) + ": " + searcher.name + ", " + engine::to_text(preview.trials) +
                    (preview.trials == 1 ? " trial" : " trials") + " of at most " +
                    std::to_string(engine::count(searcher.max_length)) + " " + printable(config.unit) +
                    ", by " + printable(searcher.metric) +
                    (searcher.smaller_is_better ? " (smaller is better)" : " (larger is better)") + "\n\n";
  if (const std::string space = space_table(config.space); !space.empty()) {
    out += space + "\n";
  }
  Table brackets({{"BRACKET", Table::Align::right},
                  {"TRIALS", Table::Align::right},
                  {"AT ONCE", Table::Align::right},
                  {"EXPECTED TO TRAIN (" + printable(config.unit) + ")"}});
  for (std::size_t b = 0; b < preview.brackets.size(); ++b) {
    const engine::BracketPreview& bracket = preview.brackets[b];
    brackets.add({std::to_string(b), engine::to_text(bracket.trials),
                  bracket.share == 0 ? "-" : std::to_string(bracket.share), reach_text(bracket)});
  }
  Table finals({{"FINAL LENGTH", Table::Align::right}, {"TRIALS", Table::Align::right}});
  for (const auto& [length, trials] : preview.final_counts) {
    finals.add({std::to_string(engine::count(length)), engine::to_text(trials)});
  }
  if (!brackets.empty()) {
    out += brackets.text() + "\n";
  }
  out += finals.text();
  if (preview.repeats > 0) {
    out += "\nat the end, each finalist is trained again until it has " + std::to_string(searcher.repeats) +
           " trainings: at most " + engine::to_text(preview.repeats) +
           (preview.repeats == 1 ? " more trial" : " more trials") + ", included above\n";
  }
  out += "\ntraining in all: " + length_text(preview.total_length) + " " + printable(config.unit);
  if (preview.full_length > preview.total_length) {
    const double share = static_cast<double>(preview.total_length) / static_cast<double>(preview.full_length);
    out += ", " + percent_text(share) + " of the " + engine::to_text(preview.full_length) +
           " for training every trial to the end";
  }
  out += "\n";
  if (searcher.stop_once) {
    // The counts above are those for equal metrics, which a search can be checked against.
    out +=
        "that is with equal metrics, when stopping lets every trial pass; with results in random order "
        "it is about " +
        percent_text(static_cast<double>(preview.expected_length) /
                     static_cast<double>(preview.full_length)) +
        "\n";
  }
  return out;
}

}  // namespace

int preview(const FileOptions& options, const ServerOptions& server, const Output& output) {
  ExperimentFile file = open_experiment_file(options.file, {options.seed, options.name});
  read_prior(file, server, output);
  check_start(file, {.context = usual_context(options.file)});
  if (!file.problems.empty()) {
    return report_problems(file, output);
  }
  check_named_cluster(file, server, output);
  const engine::SearcherKind* kind = engine::find_kind(known_searchers(), file.config->searcher.name);
  HPSEARCH_CHECK(kind != nullptr, "a config without problems names a searcher of the registry");
  const Preview preview = kind->preview(*file.config);
  if (output.json()) {
    output.print(proto::to_json(preview) + "\n");
  } else {
    output.print(preview_text(preview, *file.config));
  }
  if (!output.json()) {
    for (const std::string& warning : preview.warnings) {
      output.message("warning: " + printable(warning));
    }
    for (const std::string& advice : preview.advice) {
      output.message("advice: " + printable(advice));
    }
  }
  report_notes(file, output);
  return 0;
}

}  // namespace hpsearch::cli
