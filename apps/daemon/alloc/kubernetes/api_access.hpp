#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/net/tls_client.hpp"

namespace hpsearch::daemon::kubernetes {

/// How the daemon reaches the API of Kubernetes, and as whom.
struct ApiAccess {
  std::string address;     ///< "https://10.0.0.1:443"
  std::string prefix{};    ///< Before each path, as "/k8s/clusters/a"; "" = none.
  std::string name_space;  ///< The daemon's own namespace.
  net::TlsClient tls{};
  std::string token{};  ///< "" = none.
};

/// Where the access is read from.
struct AccessPlaces {
  std::function<std::optional<std::string>(const std::string&)> variable;  ///< A variable of the environment.
  std::function<engine::Result<std::string>(const std::string& path)> file_content;
};
[[nodiscard]] AccessPlaces usual_places();

/// Reads the access: the kubeconfig $KUBECONFIG, or else the service account of the daemon's pod, or else
/// ~/.kube/config. Read it for each use: tokens and certificates in files are replaced while the daemon runs.
/// wrong_state: there is none, or it has a credential that needs a program of somebody else.
[[nodiscard]] engine::Result<ApiAccess> read_access(const AccessPlaces& places);

}  // namespace hpsearch::daemon::kubernetes
