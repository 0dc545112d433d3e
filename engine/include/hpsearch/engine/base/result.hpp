#pragma once

#include <string>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::engine {

/// What went wrong, named by what the caller can do about it.
enum class Errc {
  bad_request,       ///< The request itself is wrong; repeating it cannot help.
  not_found,         ///< No such experiment, trial, worker or record.
  wrong_state,       ///< Known, but not in a state that allows this.
  version_mismatch,  ///< Written by a peer or a build we cannot read.
  corrupt,           ///< Bytes that fail their own checks.
  unavailable,       ///< The outside world refused; may work later.
  conflict,          ///< Its name stands for something else already; ask under another.
  quota,             ///< A limit of the workspace is reached; works again when there is room.
};

/// The code's name as it stands in JSON and logs, for example "bad_request".
[[nodiscard]] const char* name_of(Errc code) noexcept;

/// A failure a person can act on: one sentence, naming the thing, its value and what is allowed.
struct Error {
  Errc code = Errc::bad_request;
  std::string message;
};

/// The value of a Result that has nothing else to say.
struct Done {
  friend bool operator==(Done, Done) = default;
};

/// Either a T or the Error that explains why there is none. The names are those of std::expected.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : held_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const noexcept { return held_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

  /// Aborts when there is no value: ask first.
  [[nodiscard]] T& value() & {
    HPSEARCH_CHECK(has_value(), "value() of a failed Result");
    return *std::get_if<0>(&held_);
  }
  [[nodiscard]] const T& value() const& {
    HPSEARCH_CHECK(has_value(), "value() of a failed Result");
    return *std::get_if<0>(&held_);
  }
  [[nodiscard]] T&& value() && { return std::move(value()); }

  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(value()); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  /// Aborts when there is no error: ask first.
  [[nodiscard]] const Error& error() const {
    HPSEARCH_CHECK(!has_value(), "error() of a successful Result");
    return *std::get_if<1>(&held_);
  }

 private:
  std::variant<T, Error> held_;
};

using Status = Result<Done>;

}  // namespace hpsearch::engine
