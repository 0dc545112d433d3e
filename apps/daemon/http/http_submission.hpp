#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/access/sealed_secrets.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/jobs/fields/submission.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::daemon {

/// The body of a submission: an object of JSON with the configuration in it, or an experiment file in YAML.
struct SubmissionText {
  std::string body;
  bool is_yaml = false;
};

/// What a submission says, with everything that is wrong with it.
struct ExaminedSubmission {
  std::optional<net::HttpResponse> refusal;  ///< It is no submission at all; then nothing else is set.
  engine::Value config;                      ///< As it came.
  jobs::ParsedExperiment parsed;
  std::string context_directory;
  std::string context_digest;
  std::vector<yaml::FileProblem> problems;  ///< In the order of their lines; JSON has none.
  std::vector<yaml::FileProblem> notes;
  engine::SearcherRegistry registry;
};

/// Reads a submission: JSON or YAML, configuration, patterns, size. It may take a second for the largest
/// bodies. Threads: any; `registry` must not change meanwhile.
[[nodiscard]] ExaminedSubmission examine_submission(const SubmissionText& text,
                                                    engine::SearcherRegistry registry);

/// The body of POST /experiments after all checks that need nothing but the body.
struct CheckedSubmission {
  std::optional<net::HttpResponse> refusal;  ///< What is wrong; then nothing else is set.
  jobs::ParsedExperiment parsed;
  std::string context_directory;
  std::string context_digest;
  std::string owner;      ///< Who submits it.
  std::string unix_user;  ///< unix_user_of() the caller.
};

/// examine_submission, and refuses what is wrong. With `secrets`, those of the configuration are sealed in
/// the answer.
[[nodiscard]] CheckedSubmission check_submission(const SubmissionText& text,
                                                 engine::SearcherRegistry registry,
                                                 const SealedSecrets* secrets);

}  // namespace hpsearch::daemon
