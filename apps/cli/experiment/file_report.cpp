#include "cli/experiment/file_report.hpp"

#include <filesystem>

#include "cli/render/text.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::cli {

using engine::Value;

Value to_value(const ExperimentFile& file, const std::vector<FileProblem>& problems) {
  Value::List out;
  for (const FileProblem& problem : problems) {
    out.push_back(
        Value::Map{{"file", proto::to_utf8(problem.file.empty() ? file.path : problem.file)},
                   {"line", problem.line == 0 ? Value() : Value(static_cast<std::int64_t>(problem.line))},
                   {"path", problem.problem.path},
                   {"what", proto::to_utf8(problem.problem.what)},
                   {"allowed", problem.problem.allowed}});
  }
  return out;
}

int report_problems(const ExperimentFile& file, const Output& output) {
  const std::string message = file.path + " has " + counted(file.problems.size(), "problem");
  if (output.json()) {
    output.data(Value::Map{{"error", Value::Map{{"code", engine::name_of(engine::Errc::bad_request)},
                                                {"message", proto::to_utf8(message)},
                                                {"problems", to_value(file, file.problems)}}}});
  } else {
    for (const FileProblem& problem : file.problems) {
      output.message(printable(to_text(file.path, problem)));
    }
  }
  return static_cast<int>(Exit::usage);
}

void report_notes(const ExperimentFile& file, const Output& output) {
  for (const FileProblem& note : file.notes) {
    output.message(printable(to_text(file.path, note)) + " [note]");
  }
}

std::filesystem::path usual_context(const std::string& file) {
  const std::filesystem::path path(file);
  return file != "-" && path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

Outcome<std::string> context_directory(const std::optional<std::string>& given, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path directory = given ? fs::path(*given) : usual_context(file);
  std::error_code error;
  const fs::path absolute = fs::canonical(directory, error);
  if (error) {
    return usage_failure("the context directory " + directory.string() +
                         " cannot be used: " + error.message());
  }
  if (!fs::is_directory(absolute, error)) {
    return usage_failure("the context directory " + directory.string() + " is not a directory");
  }
  return absolute.string();
}

}  // namespace hpsearch::cli
