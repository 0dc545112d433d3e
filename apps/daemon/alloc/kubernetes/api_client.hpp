#pragma once

#include <chrono>
#include <string>

#include "daemon/alloc/kubernetes/api_access.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon::kubernetes {

/// An answer of the API.
struct ApiAnswer {
  unsigned status = 0;
  std::string text{};       ///< As it came.
  engine::Value content{};  ///< Its JSON; null if it is none.
  std::string warnings{};   ///< "; " between; "" = none.

  [[nodiscard]] bool succeeded() const noexcept { return status >= 200 && status < 300; }
  /// The API's own message, or else its status.
  [[nodiscard]] std::string problem() const;
};

/// Requests to the API of Kubernetes; each on a connection of its own.
///
/// A request that the API has certainly not carried out is sent again once: after 401 with the credentials
/// read again, after 429 and 503 when `Retry-After` has passed. A question (GET) is sent again after a cut
/// connection, too.
class ApiClient {
 public:
  explicit ApiClient(AccessPlaces places) : places_(std::move(places)) {}

  /// wrong_state: there is no access; unavailable: no answer came, and whether the request was carried out is
  /// not known. Blocks.
  [[nodiscard]] engine::Result<ApiAnswer> ask(const std::string& method, const std::string& target,
                                              const engine::Value& body = {}) const;

  /// All items of a list, page by page. A list that expires between pages (410) begins again. Blocks.
  [[nodiscard]] engine::Result<engine::Value::List> list(const std::string& path,
                                                         const std::string& query) const;

  [[nodiscard]] engine::Result<ApiAccess> access() const { return read_access(places_); }

 private:
  [[nodiscard]] engine::Result<ApiAnswer> ask_once(const std::string& method, const std::string& target,
                                                   const std::string& body,
                                                   std::chrono::seconds& retry_after) const;

  AccessPlaces places_;
};

}  // namespace hpsearch::daemon::kubernetes
