#include <filesystem>
#include <fstream>
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

/// Reads a file as a tree; adds its problems to `file`.
std::optional<Value> read_tree(const std::string& path, ExperimentFile& file) {
  const LoadedText loaded = load_text(path);
  if (!loaded.problem.empty()) {
    file.problems.push_back({0, {"", loaded.problem, ""}, path == file.path ? "" : path});
    return std::nullopt;
  }
  ReadText read = read_experiment_text(loaded.text);
  for (FileProblem& problem : read.problems) {
    problem.file = path == file.path || path == "-" ? "" : path;
    file.problems.push_back(std::move(problem));
  }
  return file.problems.empty() ? std::move(read.tree) : std::nullopt;
}

/// Inserts the space that an NNI experiment names.
void inline_space(const std::string& path, Value& tree, ExperimentFile& file) {
  const std::string name = jobs::nni_space_file(tree);
  if (name.empty()) {
    return;
  }
  const std::filesystem::path space = std::filesystem::path(path).parent_path() / name;
  if (std::optional<Value> read = read_tree(space.string(), file)) {
    (*tree.as_map())["searchSpace"] = *std::move(read);
  }
}

/// Writes a new file.
std::string written_to(const std::string& path, const std::string& text) {
  if (std::filesystem::exists(path)) {
    return path + " exists already; give another path, or remove it";
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? "" : path + " cannot be written";
}

}  // namespace

int import_file(const ImportOptions& options, const Output& output) {
  ExperimentFile file;
  file.path = options.file == "-" ? "<stdin>" : options.file;
  std::optional<Value> tree = read_tree(options.file, file);
  if (tree && file.problems.empty()) {
    inline_space(options.file, *tree, file);
  }
  if (!tree || !file.problems.empty()) {
    return report_problems(file, output);
  }
  const jobs::Result<jobs::ImportedExperiment> imported = jobs::import_experiment(*tree);
  if (!imported) {
    file.problems.push_back({0, {"", imported.error().message, ""}});
    return report_problems(file, output);
  }
  jobs::ParsedExperiment parsed = jobs::parse_submission(imported->tree, known_searchers(), "experiment", 0);
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
    for (const jobs::ImportRemark& remark : imported->remarks) {
      remarks.push_back(Value::Map{{"path", remark.path}, {"text", remark.text}});
    }
    output.data(Value::Map{{"experiment", imported->tree}, {"remarks", std::move(remarks)}});
    return 0;
  }
  std::vector<YamlComment> comments;
  for (const jobs::ImportRemark& remark : imported->remarks) {
    comments.push_back({remark.path, "DECIDE: " + remark.text + "."});
  }
  const std::string text = commented_yaml(*imported->tree.as_map(), comments);
  if (!options.to) {
    output.print(text);
    return 0;
  }
  if (const std::string problem = written_to(*options.to, text); !problem.empty()) {
    return output.fail(usage_failure(problem));
  }
  output.message(*options.to + " has the experiment; " + counted(comments.size(), "line") + " with DECIDE");
  return 0;
}

}  // namespace hpsearch::cli
