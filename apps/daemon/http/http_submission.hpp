#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/access/sealed_secrets.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/as_written.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/jobs/fields/submission.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::daemon {

/// The body of a submission: a JSON object that contains the configuration, or an experiment file in YAML.
struct SubmissionText {
  std::string body;
  bool is_yaml = false;
};

/// A submission with all its problems.
struct ExaminedSubmission {
  std::optional<net::HttpResponse> refusal;  ///< Set if the body is not a submission; then nothing else is
                                             ///< set.
  engine::Value config;                      ///< As submitted.
  jobs::ParsedExperiment parsed;
  std::string context_directory;
  std::string context_digest;
  std::optional<engine::SubmittedFile> file;  ///< With its secrets.
  std::optional<engine::GitState> git;
  std::vector<yaml::FileProblem> problems;  ///< Sorted by line; JSON has no lines.
  std::vector<yaml::FileProblem> notes;
  engine::SearcherRegistry registry;
};

/// Reads a submission: JSON or YAML, configuration, patterns, size. It may take a second for the largest
/// bodies. Threads: any; `registry` must not change meanwhile.
[[nodiscard]] ExaminedSubmission examine_submission(const SubmissionText& text,
                                                    engine::SearcherRegistry registry);

/// The body of POST /experiments after all checks that need only the body.
struct CheckedSubmission {
  std::optional<net::HttpResponse> refusal;  ///< Set if something is wrong; then nothing else is set.
  jobs::ParsedExperiment parsed;
  std::string context_directory;
  std::string context_digest;
  std::optional<engine::SubmittedFile> file;  ///< Without its secrets.
  std::optional<engine::GitState> git;
  std::string note;       ///< Why `file` is missing although it was sent; "" otherwise.
  std::string owner;      ///< The user who submits it.
  std::string unix_user;  ///< unix_user_of() the caller.
};

/// Like examine_submission, but refuses a submission with problems. With `secrets`, the secrets of the
/// configuration are sealed in the answer.
[[nodiscard]] CheckedSubmission check_submission(const SubmissionText& text,
                                                 engine::SearcherRegistry registry,
                                                 const SealedSecrets* secrets);

}  // namespace hpsearch::daemon
