#pragma once

#include <optional>
#include <string>

#include "daemon/access/sealed_secrets.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/jobs/submission.hpp"
#include "hpsearch/net/http.hpp"

namespace hpsearch::daemon {

/// The body of POST /experiments after all checks that need nothing but the body.
struct CheckedSubmission {
  std::optional<net::HttpResponse> refusal;  ///< What is wrong; then nothing else is set.
  jobs::ParsedExperiment parsed;
  std::string context_directory;
  std::string context_digest;
};

/// Reads a submission: JSON, configuration, patterns, size. It may take a second for the largest bodies. With
/// `secrets`, those of the configuration are sealed in the answer.
///
/// Threads: any; `registry` must not change meanwhile.
[[nodiscard]] CheckedSubmission check_submission(const std::string& body, engine::SearcherRegistry registry,
                                                 const SealedSecrets* secrets);

}  // namespace hpsearch::daemon
