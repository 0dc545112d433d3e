#include "daemon/http/http_submission.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "daemon/http/http_request_context.hpp"
#include "daemon/submission/as_written.hpp"
#include "daemon/submission/file_without_secrets.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/jobs/patterns/pattern_check.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::daemon {

namespace {

constexpr std::uint64_t seeds = std::uint64_t{1} << 31U;

struct Submission {
  Value config;
  std::string name;
  std::string context_directory;
  std::string context_digest;
  std::uint64_t seed = 0;
  std::optional<engine::SubmittedFile> file{};
  std::optional<engine::GitState> git{};
};

std::uint64_t random_seed() {
  return files::random_number() % seeds;
}

/// Adds everything that is wrong with it to `problems`.
Submission read_submission(const Value::Map& body, engine::Problems& problems) {
  static constexpr std::array<std::string_view, 7> known{
      "config", "name", "context_directory", "context_digest", "seed", "file", "git"};
  Submission read;
  read.name = "experiment";
  read.seed = random_seed();
  for (const auto& [key, value] : body) {
    const std::string* text = value.as_text();
    const std::int64_t* number = value.as_integer();
    if (key == "config") {
      if (value.as_map() == nullptr) {
        problems.push_back(
            {key, "is a " + std::string(value.kind_name()), "a map: the experiment's configuration"});
      }
      read.config = value;
    } else if (key == "name") {
      if (text == nullptr || text->empty()) {
        problems.push_back({key, "is not a name", "a text that is not empty"});
      } else {
        read.name = *text;
      }
    } else if (key == "context_directory") {
      if (text == nullptr || (!text->empty() && text->front() != '/')) {
        problems.push_back({key, "is not an absolute path", "a path from / on, or \"\" for none"});
      } else {
        read.context_directory = *text;
      }
    } else if (key == "context_digest") {
      if (text == nullptr || (!text->empty() && !files::is_sha256(*text))) {
        problems.push_back({key, "is not a digest", "64 digits of lower case hexadecimal, or \"\" for none"});
      } else {
        read.context_digest = *text;
      }
    } else if (key == "seed") {
      if (number == nullptr || *number < 0 || static_cast<std::uint64_t>(*number) >= seeds) {
        problems.push_back({key, "is not a seed", "an integer from 0 to 2147483647"});
      } else {
        read.seed = static_cast<std::uint64_t>(*number);
      }
    } else if (key == "file") {
      read.file = read_submitted_file(value, problems);
    } else if (key == "git") {
      read.git = read_git_state(value, problems);
    } else {
      const std::string near(engine::nearest(key, known));
      problems.push_back(
          {key, "is not known",
           near.empty() ? "config, name, context_directory, context_digest, seed, file, git" : near});
    }
  }
  if (!body.contains("config")) {
    problems.push_back({"config", "is missing", "a map: the experiment's configuration"});
  }
  return read;
}

/// The size of a lease of this experiment, apart from small differences between trials.
std::size_t lease_bytes(const jobs::ParsedExperiment& parsed, const Submission& submission) {
  jobs::LaunchSpec spec = jobs::launch_of(*parsed.config, parsed.program, to_value(*parsed.config));
  spec.hparams = parsed.config->hyperparameters;
  spec.context_directory = submission.context_directory;
  spec.context_digest = submission.context_digest;
  return proto::encode(proto::Envelope{}, proto::FromDaemon(proto::Lease{std::move(spec)})).size();
}

CheckedSubmission refused(net::HttpResponse response) {
  CheckedSubmission checked;
  checked.refusal = std::move(response);
  return checked;
}

}  // namespace

ExaminedSubmission examine_submission(const SubmissionText& text, engine::SearcherRegistry registry) {
  ExaminedSubmission out;
  out.registry = registry;
  Submission submission;
  yaml::LineMap lines;
  if (text.is_yaml) {
    yaml::ReadText read = yaml::read_experiment_text(text.body);
    out.problems = std::move(read.problems);
    submission.config = read.tree ? *std::move(read.tree) : Value();
    submission.name = "experiment";
    submission.seed = random_seed();
    submission.file = engine::SubmittedFile{"", text.body};
    lines = std::move(read.lines);
    if (submission.config.as_map() == nullptr) {
      if (out.problems.empty()) {
        out.problems.push_back({lines.line(),
                                {"", "is a " + std::string(submission.config.kind_name()),
                                 "a map of fields: name, entrypoint, hyperparameters, searcher, ..."}});
      }
      return out;
    }
  } else {
    const auto object = json_object(text.body);
    if (!object) {
      out.refusal = failure(object.error());
      return out;
    }
    engine::Problems problems;
    submission = read_submission(*object->as_map(), problems);
    if (!problems.empty()) {
      out.refusal = failure("the request is wrong", problems);
      return out;
    }
  }
  std::set<std::string> reported;  // A field that could not be read gets only one problem.
  for (const yaml::FileProblem& one : out.problems) {
    reported.insert(one.problem.path);
  }
  out.parsed = jobs::parse_submission(submission.config, registry, submission.name, submission.seed);
  engine::Problems& found = out.parsed.problems;
  for (engine::Problem& problem : patterns::problems_of(jobs::patterns_of(submission.config))) {
    found.push_back(std::move(problem));
  }
  if (out.parsed.config) {
    for (engine::Problem& problem : secrets_copied_from_answers(Value(out.parsed.config->program))) {
      found.push_back(std::move(problem));
    }
  }
  if (out.parsed.config && found.empty()) {
    // The other half of a frame is for checkpoint paths and other parts that differ between trials.
    const std::size_t bytes = lease_bytes(out.parsed, submission);
    if (bytes > proto::max_frame_bytes / 2) {
      found.push_back({"", "takes " + std::to_string(bytes) + " bytes on its way to a worker",
                       "at most " + std::to_string(proto::max_frame_bytes / 2) + " bytes"});
    }
  }
  const auto place = [&](const engine::Problems& from, std::vector<yaml::FileProblem>& to) {
    for (const engine::Problem& problem : from) {
      if (problem.path.empty() || !reported.contains(problem.path)) {
        to.push_back({text.is_yaml ? lines.line_of(problem.path) : 0, problem});
      }
    }
    std::stable_sort(to.begin(), to.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  };
  place(found, out.problems);
  place(out.parsed.notes, out.notes);
  out.config = std::move(submission.config);
  out.context_directory = std::move(submission.context_directory);
  out.context_digest = std::move(submission.context_digest);
  out.file = std::move(submission.file);
  out.git = std::move(submission.git);
  return out;
}

CheckedSubmission check_submission(const SubmissionText& text, engine::SearcherRegistry registry,
                                   const SealedSecrets* secrets) {
  ExaminedSubmission examined = examine_submission(text, registry);
  if (examined.refusal) {
    return refused(*std::move(examined.refusal));
  }
  if (!examined.parsed.config || !examined.problems.empty()) {
    return refused(failure("the configuration is wrong", examined.problems));
  }
  CheckedSubmission checked;
  checked.parsed = std::move(examined.parsed);
  if (examined.file) {
    FileWithoutSecrets written = file_without_secrets(examined.file->text, checked.parsed.config->program);
    if (written.text) {
      checked.file = engine::SubmittedFile{std::move(examined.file->name), *std::move(written.text)};
    } else {
      checked.note = "the experiment file is not kept as written: " + written.why_not;
    }
  }
  checked.git = std::move(examined.git);
  if (secrets != nullptr) {
    engine::ExperimentConfig& config = *checked.parsed.config;
    config.program = *secrets->seal(Value(std::move(config.program))).as_map();
  }
  checked.context_directory = std::move(examined.context_directory);
  checked.context_digest = std::move(examined.context_digest);
  return checked;
}

}  // namespace hpsearch::daemon
