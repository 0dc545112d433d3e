#pragma once

#include <string>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::cli {

/// What a program says about itself when it ends; the same for all programs of the house.
enum class Exit : int {
  ok = 0,
  failed = 1,
  usage = 2,              ///< Wrong arguments, or a bad file.
  not_found = 3,          ///< No such experiment or trial.
  conflict = 4,           ///< Wrong state, or somebody else holds it.
  unreachable = 6,        ///< No daemon answers.
  experiment_failed = 7,  ///< The command did its work, but the experiment failed or was canceled.
  storage = 74,           ///< Disk full or broken.
  interrupted = 130,
};

/// Why a command could not do its work: what the program ends with, and what a person (or, in JSON mode, a
/// program) is told.
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

/// Of what a part of the daemon's directory says; printable.
[[nodiscard]] Failure failure_of(const engine::Error& error);

/// A T, or the Failure that explains why there is none. Result with an exit status.
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
