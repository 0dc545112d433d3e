#pragma once

#include <memory>
#include <vector>

#include "fields/sections.hpp"

namespace hpsearch::jobs {

/// The support for another platform's experiment files. One object reads one submission, and the functions
/// are called in this order. Each does nothing unless a dialect overrides it.
class Dialect {
 public:
  Dialect() = default;
  virtual ~Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;

  /// Translates the platform's fields of a submission (a map) into those of docs/experiment-file.md.
  virtual void translate(Value& /*tree*/, Findings& /*findings*/) {}

  /// Checks the search space after it has been read without problems.
  virtual void check_space(const Space& /*space*/, Findings& /*findings*/) const {}

  /// Checks what the engine and this module have read from the submission.
  virtual void check_program(const ExperimentConfig& /*config*/, const Program& /*program*/,
                             Findings& /*findings*/) const {}

  /// Whether the platform's own launcher lets the program's processes meet on several workers.
  [[nodiscard]] virtual bool spans_workers(const Program& /*program*/) const { return false; }
};

using Dialects = std::vector<std::unique_ptr<Dialect>>;

/// All dialects, in the order in which they translate a submission.
[[nodiscard]] Dialects make_dialects();

}  // namespace hpsearch::jobs
