#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "cli/experiment/commented_yaml.hpp"
#include "cli/experiment/file_report.hpp"
#include "cli/experiment/known_searchers.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/jobs/fields/submission.hpp"
#include "hpsearch/jobs/imports/imports.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// Reads a file; adds its problems to `file`.
ReadText read_file(const std::string& path, ExperimentFile& file) {
  const LoadedText loaded = load_text(path);
  if (!loaded.problem.empty()) {
    file.problems.push_back({0, {"", loaded.problem, ""}, path == file.path ? "" : path});
    return {};
  }
  ReadText read = read_experiment_text(loaded.text);
  for (FileProblem& problem : read.problems) {
    problem.file = path == file.path || path == "-" ? "" : path;
    file.problems.push_back(std::move(problem));
  }
  return read;
}

/// A file of another product with the lines of its values.
struct ForeignText {
  std::optional<Value> tree;
  LineMap lines;
  std::string space_file =
      {};  ///< The file that has the search space of an NNI experiment; "" if there is none.
  LineMap space_lines = {};

  [[nodiscard]] FileProblem located(engine::Problem problem) const {
    constexpr std::string_view space = "searchSpace";
    if (!space_file.empty() && problem.path.starts_with(space)) {
      problem.path.erase(0, std::min(problem.path.size(), space.size() + 1));
      const std::size_t line = space_lines.line_of(problem.path);
      return {line, std::move(problem), space_file};
    }
    const std::size_t line = lines.line_of(problem.path);
    return {line, std::move(problem)};
  }
};

ForeignText read_foreign(const std::string& path, ExperimentFile& file) {
  ReadText read = read_file(path, file);
  ForeignText text{.tree = std::move(read.tree), .lines = std::move(read.lines)};
  const std::string name = text.tree ? jobs::nni_space_file(*text.tree) : "";
  if (!name.empty()) {
    text.space_file = (std::filesystem::path(path).parent_path() / name).string();
    ReadText space = read_file(text.space_file, file);
    text.space_lines = std::move(space.lines);
    (*text.tree->as_map())["searchSpace"] = space.tree ? *std::move(space.tree) : Value();
  }
  return text;
}

std::string written_to(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? "" : path + " cannot be written";
}

constexpr std::string_view about_pod_template =
    "# The pod of a trial, as a template for the workers of a queue on Kubernetes: hpsearch alloc add "
    "kubernetes "
    "--name NAME\n"
    "# -- --pod-template FILE. The image needs the program and hpsearch-worker, or give another one with "
    "--image. "
    "The command,\n"
    "# its variables and what a queue sets itself are left out.\n";

/// Writes new files only, both or none. Returns a problem, or "".
std::string write_files(const ImportOptions& options, const std::string& experiment,
                        const Value& pod_template, const Output& output) {
  if (options.pod_template && pod_template.is_null()) {
    return "the file describes no pod; --pod-template is for Katib experiments and OptimizationJobs";
  }
  for (const std::optional<std::string>& path : {options.to, options.pod_template}) {
    if (path && std::filesystem::exists(*path)) {
      return *path + " exists already; give another path, or remove it";
    }
  }
  if (options.pod_template) {
    const std::string text = std::string(about_pod_template) + yaml_text(pod_template);
    if (std::string problem = written_to(*options.pod_template, text); !problem.empty()) {
      return problem;
    }
  }
  if (!options.to) {
    output.print(experiment);
    return "";
  }
  return written_to(*options.to, experiment);
}

}  // namespace

int import_file(const ImportOptions& options, const Output& output) {
  ExperimentFile file;
  file.path = options.file == "-" ? "<stdin>" : options.file;
  const ForeignText text = read_foreign(options.file, file);
  if (!text.tree || !file.problems.empty()) {
    return report_problems(file, output);
  }
  jobs::ImportedExperiment imported = jobs::import_experiment(*text.tree);
  for (engine::Problem& problem : imported.problems) {
    file.problems.push_back(text.located(std::move(problem)));
  }
  if (!file.problems.empty()) {
    return report_problems(file, output);
  }
  jobs::ParsedExperiment parsed = jobs::parse_submission(imported.tree, known_searchers(), "experiment", 0);
  for (engine::Problem& problem : parsed.problems) {
    // An experiment that cannot run must not be written, whatever the translation made of the file.
    problem.path = "the experiment's " + problem.path;
    file.problems.push_back({0, std::move(problem)});
  }
  if (!file.problems.empty()) {
    return report_problems(file, output);
  }
  if (output.json()) {
    Value::List remarks;
    for (const jobs::ImportRemark& remark : imported.remarks) {
      remarks.push_back(Value::Map{{"path", remark.path}, {"text", remark.text}});
    }
    output.data(Value::Map{{"experiment", imported.tree},
                           {"pod_template", imported.pod_template},
                           {"remarks", std::move(remarks)}});
    return 0;
  }
  std::vector<YamlComment> comments;
  for (const jobs::ImportRemark& remark : imported.remarks) {
    comments.push_back({remark.path, "DECIDE: " + remark.text + "."});
  }
  const std::string experiment = commented_yaml(*imported.tree.as_map(), comments);
  if (const std::string problem = write_files(options, experiment, imported.pod_template, output);
      !problem.empty()) {
    return output.fail(usage_failure(problem));
  }
  if (options.to) {
    output.message(*options.to + " has the experiment; " + counted(comments.size(), "line") + " with DECIDE");
  }
  if (options.pod_template) {
    output.message(*options.pod_template + " has the pod template");
  }
  return 0;
}

}  // namespace hpsearch::cli
