#include <string>
#include <vector>

#include "cli/experiment/cluster_check.hpp"
#include "cli/experiment/file_report.hpp"
#include "cli/experiment/prior_results.hpp"
#include "cli/experiment/start_check.hpp"
#include "cli/render/space_table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/config/search_doubts.hpp"

namespace hpsearch::cli {

using engine::Value;

int validate(const FileOptions& options, const ServerOptions& server, const Output& output) {
  ExperimentFile file = open_experiment_file(options.file, {options.seed, options.name});
  read_prior(file, server, output);
  check_start(file, {.context = usual_context(options.file)});
  if (!file.problems.empty()) {
    return report_problems(file, output);
  }
  check_named_cluster(file, server, output);
  if (output.json()) {
    const std::vector<std::string> to_confirm = engine::doubts_to_confirm(*file.config);
    output.data(Value::Map{{"valid", true},
                           {"notes", to_value(file, file.notes)},
                           {"to_confirm", Value::List(to_confirm.begin(), to_confirm.end())},
                           {"config", engine::to_value(*file.config)}});
    return 0;
  }
  report_notes(file, output);
  output.print(file.path + " is a valid experiment: " + printable(file.config->name) + ", " +
               file.config->searcher.name + " on " + printable(file.config->searcher.metric) + "\n" +
               space_table(file.config->space));
  return 0;
}

}  // namespace hpsearch::cli
