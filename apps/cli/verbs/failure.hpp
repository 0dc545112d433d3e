#pragma once

#include <string>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::cli {

/// Exit codes, the same for all programs of hpsearch.
enum class Exit : int {
  ok = 0,
  failed = 1,
  usage = 2,              ///< Wrong arguments, or a bad file.
  not_found = 3,          ///< The experiment or trial does not exist.
  conflict = 4,           ///< Wrong state, or another process holds it.
  unreachable = 6,        ///< No daemon answers.
  experiment_failed = 7,  ///< The command did its work, but the experiment failed or was canceled.
  storage = 74,           ///< Disk full or broken.
  interrupted = 130,
};

/// Why a command failed: the exit code, and the message for people or, in JSON mode, for programs.
struct Failure {
  Exit exit = Exit::failed;
  engine::Errc code = engine::Errc::bad_request;
  std::string message;
  engine::Problems problems = {};
};

[[nodiscard]] inline Failure usage_failure(std::string message) {
  return Failure{Exit::usage, engine::Errc::bad_request, std::move(message)};
}
[[nodiscard]] inline Failure not_found_failure(std::string message) {
  return Failure{Exit::not_found, engine::Errc::not_found, std::move(message)};
}
[[nodiscard]] inline Failure conflict_failure(std::string message) {
  return Failure{Exit::conflict, engine::Errc::wrong_state, std::move(message)};
}
[[nodiscard]] inline Failure unreachable_failure(std::string message) {
  return Failure{Exit::unreachable, engine::Errc::unavailable, std::move(message)};
}
[[nodiscard]] inline Failure plain_failure(std::string message) {
  return Failure{Exit::failed, engine::Errc::unavailable, std::move(message)};
}

/// The error of reading the daemon's directory; printable.
[[nodiscard]] Failure failure_of(const engine::Error& error);

/// A T, or the Failure that explains why there is none: a Result with an exit code.
template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value)
      : held_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Outcome(Failure failure)
      : held_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] explicit operator bool() const noexcept { return held_.index() == 0; }
  [[nodiscard]] T& operator*() {
    HPSEARCH_CHECK(held_.index() == 0, "value of a failed Outcome");
    return *std::get_if<0>(&held_);
  }
  [[nodiscard]] const T& operator*() const {
    HPSEARCH_CHECK(held_.index() == 0, "value of a failed Outcome");
    return *std::get_if<0>(&held_);
  }
  [[nodiscard]] T* operator->() { return &**this; }
  [[nodiscard]] const T* operator->() const { return &**this; }
  [[nodiscard]] const Failure& failure() const {
    HPSEARCH_CHECK(held_.index() == 1, "failure of a successful Outcome");
    return *std::get_if<1>(&held_);
  }

 private:
  std::variant<T, Failure> held_;
};

}  // namespace hpsearch::cli
