#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/submission.hpp"

namespace hpsearch::daemon {

/// What POST /experiments asks for.
struct Submission {
  engine::Value config;
  std::string name;
  std::string context_directory;
  std::string context_digest;
  std::uint64_t seed = 0;
};

/// Reads a submission; `problems` says everything that is wrong with it.
[[nodiscard]] Submission read_submission(const engine::Value::Map& body, engine::Problems& problems);

/// Bytes a lease of this experiment takes at most, apart from what differs between trials by a little.
[[nodiscard]] std::size_t lease_bytes(const jobs::ParsedExperiment& parsed, const Submission& submission);

}  // namespace hpsearch::daemon
