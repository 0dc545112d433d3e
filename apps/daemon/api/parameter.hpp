#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// A parameter of a query, declared once: requests are checked against it, and the API's description has it.
struct QueryParameter {
  enum class Kind : std::uint8_t { text, whole_number, choice };
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view about;
  std::uint64_t least = 0;  ///< Least value of a whole number.
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::span<const std::string_view> choices{};  ///< The allowed values.
};

inline constexpr std::string_view yes_or_no[] = {"0", "1", "false", "true"};

inline constexpr QueryParameter after_number{
    "after", QueryParameter::Kind::whole_number,
    "The page begins behind this number: `next` of the page before."};
inline constexpr QueryParameter after_position{
    "after", QueryParameter::Kind::text, "The page begins behind this place: `next` of the page before."};
inline constexpr QueryParameter page_limit{"limit", QueryParameter::Kind::whole_number,
                                           "The most entries of the page; pages of many entries end earlier.",
                                           1};

/// Queries of pages of numbered items, and of items with places.
inline constexpr QueryParameter page_query[] = {after_number, page_limit};
inline constexpr QueryParameter place_page_query[] = {after_position, page_limit};

/// A problem for each parameter that is not declared.
[[nodiscard]] engine::Problems unknown_parameters(std::span<const QueryParameter> declared,
                                                  const net::HttpRequest& request);
/// bad_request: a value is not what its declaration allows. An empty value counts as absent.
[[nodiscard]] engine::Status check_parameters(std::span<const QueryParameter> declared,
                                              const net::HttpRequest& request);
/// The parameters as OpenAPI describes them.
[[nodiscard]] engine::Value::List described(std::span<const QueryParameter> declared);

}  // namespace hpsearch::daemon
