#include "cli/experiment/experiment_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "cli/experiment/determined_script.hpp"
#include "cli/experiment/known_searchers.hpp"
#include "cli/experiment/prior_results.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/submission.hpp"
#include "hpsearch/jobs/patterns/pattern_check.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

void override_tree(Value& tree, const Overrides& overrides) {
  Value::Map* map = tree.as_map();
  if (map == nullptr) {
    return;
  }
  if (overrides.name) {
    (*map)["name"] = *overrides.name;
  }
  if (overrides.seed) {
    map->erase("experiment_seed");  // Users sometimes write it there, too.
    if (Value* environment = map->find("environment");
        environment != nullptr && environment->as_map() != nullptr) {
      environment->as_map()->erase("experiment_seed");
    }
    Value& section = (*map)["reproducibility"];
    if (section.is_null()) {
      section = Value::Map{};
    }
    if (Value::Map* fields = section.as_map(); fields != nullptr) {
      (*fields)["experiment_seed"] = static_cast<std::int64_t>(*overrides.seed);
    }
  }
}

std::string with_nearest_file(const std::string& path) {
  const std::filesystem::path given(path);
  const std::filesystem::path directory =
      given.has_parent_path() ? given.parent_path() : std::filesystem::path(".");
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
      names.push_back(entry.path().filename().string());
    }
    if (names.size() > 1000) {
      break;
    }
  }
  std::sort(names.begin(), names.end());
  const std::string_view near = engine::nearest(given.filename().string(), names);
  if (near.empty()) {
    return "no such file";
  }
  return "no such file; did you mean " +
         (given.has_parent_path() ? (directory / near).string() : std::string(near)) + "?";
}

/// A component that an experiment names by its file, with its content inserted.
struct InlinedComponent {
  std::string file;  ///< "" if there is none.
  LineMap lines;
  bool unread = false;  ///< It is named, but cannot be read: fields that it would define must not be reported
                        ///< as missing.
};

InlinedComponent inline_component(const std::string& experiment, Value& tree, const LineMap& lines,
                                  std::vector<FileProblem>& problems) {
  Value* component = tree.as_map()->find("component");
  const std::string* name = component != nullptr ? component->as_text() : nullptr;
  if (name == nullptr) {
    return {};
  }
  const std::filesystem::path file = std::filesystem::path(experiment).parent_path() / *name;
  const LoadedText loaded = load_text(file.string());
  if (!loaded.problem.empty()) {
    problems.push_back({lines.line_of("component"),
                        {"component", "is \"" + *name + "\": " + loaded.problem, "a component file"}});
    tree.as_map()->erase("component");
    return {.file = "", .lines = {}, .unread = true};
  }
  ReadText read = read_experiment_text(loaded.text);
  for (FileProblem& problem : read.problems) {
    problem.file = file.string();
    problems.push_back(std::move(problem));
  }
  *component = read.tree ? *std::move(read.tree) : Value(Value::Map{});
  return {.file = file.string(), .lines = std::move(read.lines)};
}

}  // namespace

LoadedText load_text(const std::string& path, const FileLimits& limits) {
  const bool standard_input = path == "-";
  const int descriptor =
      standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) {
    return {"", errno == ENOENT ? with_nearest_file(path)
                                : std::string("cannot be opened: ") + std::strerror(errno)};
  }
  LoadedText out;
  struct stat about {};
  if (::fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode)) {
    out.problem = "is a directory, not a file";
  }
  while (out.problem.empty()) {
    char part[16 * 1024];
    const ssize_t got = ::read(descriptor, part, sizeof part);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      out.problem = std::string("cannot be read: ") + std::strerror(errno);
    }
    if (got <= 0) {
      break;
    }
    out.text.append(part, static_cast<std::size_t>(got));
    if (out.text.size() > limits.bytes) {
      break;  // read_experiment_text reports it.
    }
  }
  if (!standard_input) {
    ::close(descriptor);
  }
  return out;
}

ExperimentFile open_experiment_file(const std::string& path, const Overrides& overrides) {
  ExperimentFile out;
  out.path = path == "-" ? ExperimentFile::standard_input : path;
  out.stem = path == "-" ? "experiment" : std::filesystem::path(path).stem().string();
  LoadedText loaded = load_text(path);
  if (!loaded.problem.empty()) {
    out.problems.push_back({0, {"", loaded.problem, ""}});
    return out;
  }
  out.text = std::move(loaded.text);
  ReadText read = read_experiment_text(out.text);
  out.problems = std::move(read.problems);
  if (!read.tree) {
    return out;
  }
  out.original = std::move(*read.tree);
  if (out.original.as_map() == nullptr) {
    if (out.problems.empty()) {
      const bool empty = out.original.is_null();
      out.problems.push_back(
          {read.lines.line(),
           {"", empty ? std::string("is empty") : "is a " + std::string(out.original.kind_name()),
            "a map of fields: name, entrypoint, hyperparameters, searcher, ..."}});
    }
    return out;
  }
  const InlinedComponent component = inline_component(path, out.original, read.lines, out.problems);
  out.tree = out.original;
  override_tree(out.tree, overrides);
  if (names_prior(out.tree)) {
    Value::Map& searcher = *out.tree.as_map()->find("searcher")->as_map();
    out.prior = std::exchange(searcher["prior"], Value::List());
  }
  const std::filesystem::path context = overrides.context_directory
                                            ? std::filesystem::path(*overrides.context_directory)
                                            : std::filesystem::path(path == "-" ? "." : path).parent_path();
  const std::optional<std::string> script = determined_script(out.tree, context);
  if (script) {
    (*out.tree.as_map())["launch"] = Value::Map{{"kind", "determined"}};
  }
  jobs::ParsedExperiment parsed =
      jobs::parse_submission(out.tree, known_searchers(), out.stem, overrides.seed.value_or(0));
  if (script) {
    parsed.notes.push_back({"entrypoint",
                            "starts " + *script +
                                ", which imports determined: it runs on the Determined harness, as with "
                                "launch.kind: determined",
                            "launch.kind: process, to run it without"});
  }
  for (engine::Problem& problem : patterns::problems_of(jobs::patterns_of(out.tree))) {
    parsed.problems.push_back(std::move(problem));
  }
  std::set<std::string> reported;  // A field that could not be read gets only one problem.
  for (const FileProblem& found : out.problems) {
    reported.insert(found.problem.path);
  }
  const auto place = [&](engine::Problems& from, std::vector<FileProblem>& to) {
    for (engine::Problem& problem : from) {
      constexpr std::string_view below = "component.";
      if ((component.unread && problem.path == "entrypoint") ||
          (!problem.path.empty() && reported.contains(problem.path))) {
        continue;
      }
      if (!component.file.empty() && problem.path.starts_with(below)) {
        problem.path.erase(0, below.size());
        const std::size_t line = component.lines.line_of(problem.path);
        to.push_back({line, std::move(problem), component.file});
      } else {
        const std::size_t line = read.lines.line_of(problem.path);
        to.push_back({line, std::move(problem)});
      }
    }
    std::stable_sort(to.begin(), to.end(),
                     [](const FileProblem& a, const FileProblem& b) { return a.line < b.line; });
  };
  place(parsed.problems, out.problems);
  place(parsed.notes, out.notes);
  if (out.problems.empty()) {
    out.config = std::move(parsed.config);
    out.program = std::move(parsed.program);
  }
  out.lines = std::move(read.lines);
  return out;
}

}  // namespace hpsearch::cli
