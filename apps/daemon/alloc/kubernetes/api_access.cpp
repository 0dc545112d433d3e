#include "daemon/alloc/kubernetes/api_access.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/base64url.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::daemon::kubernetes {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;

const std::string pod_directory = "/var/run/secrets/kubernetes.io/serviceaccount/";
constexpr std::size_t most_bytes = std::size_t{1} << 20U;

std::string without_blanks(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

std::string text_at_path(const Value& value, std::string_view path) {
  const Value* found = value.at_path(path);
  return found == nullptr || found->as_text() == nullptr ? "" : *found->as_text();
}

/// base64 of RFC 4648, section 4, with blanks between.
std::optional<std::string> bytes_of_base64(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    if (c != '=' && c != '\n' && c != '\r' && c != ' ') {
      plain += c == '+' ? '-' : c == '/' ? '_' : c;
    }
  }
  return engine::bytes_of_base64url(plain);
}

/// The entry of a list of {name, KIND}, by its name; nothing: there is none.
const Value* named(const Value& config, const std::string& list, const std::string& kind,
                   const std::string& name) {
  const Value* found = config.at_path(list);
  if (found == nullptr || found->as_list() == nullptr) {
    return nullptr;
  }
  for (const Value& one : *found->as_list()) {
    if (text_at_path(one, "name") == name) {
      return one.at_path(kind);
    }
  }
  return nullptr;
}

/// Reads one kubeconfig.
class Kubeconfig {
 public:
  Kubeconfig(std::string path, const AccessPlaces& places) : path_(std::move(path)), places_(places) {}

  [[nodiscard]] Result<ApiAccess> read() {
    const auto text = places_.file_content(path_);
    if (!text) {
      return text.error();
    }
    yaml::ReadText parsed =
        yaml::read_experiment_text(*text, {.bytes = most_bytes, .scalar_bytes = most_bytes});
    if (!parsed.tree || !parsed.problems.empty()) {
      return problem(parsed.problems.empty() ? "is empty" : yaml::to_text("", parsed.problems.front()));
    }
    const Value& config = *parsed.tree;
    const std::string context_name = text_at_path(config, "current-context");
    const Value* context = named(config, "contexts", "context", context_name);
    if (context == nullptr) {
      return problem("has no context \"" + context_name + "\"; kubectl config use-context selects one");
    }
    const Value* cluster = named(config, "clusters", "cluster", text_at_path(*context, "cluster"));
    const Value* user = named(config, "users", "user", text_at_path(*context, "user"));
    if (cluster == nullptr || user == nullptr) {
      return problem("has a context \"" + context_name + "\" whose " +
                     (cluster == nullptr ? "cluster" : "user") + " is not in it");
    }
    ApiAccess access;
    access.name_space = text_at_path(*context, "namespace");
    access.name_space = access.name_space.empty() ? "default" : access.name_space;
    Status read = take_cluster(*cluster, access);
    read = read ? take_user(*user, access) : read;
    return read ? Result<ApiAccess>(std::move(access)) : Result<ApiAccess>(read.error());
  }

 private:
  [[nodiscard]] Error problem(const std::string& what) const {
    return Error{Errc::wrong_state, "the kubeconfig " + path_ + " " + what};
  }

  /// The content of the file that `key` names, or of `key`-data; "" = neither.
  [[nodiscard]] Result<std::string> content(const Value& from, const std::string& key) const {
    if (const std::string data = text_at_path(from, key + "-data"); !data.empty()) {
      auto bytes = bytes_of_base64(data);
      return bytes ? Result<std::string>(*std::move(bytes))
                   : Result<std::string>(problem("has a " + key + "-data that is no base64"));
    }
    const std::string file = text_at_path(from, key);
    if (file.empty()) {
      return std::string();
    }
    return places_.file_content(file.starts_with('/') ? file : path_.substr(0, path_.rfind('/') + 1) + file);
  }

  [[nodiscard]] Status take_cluster(const Value& cluster, ApiAccess& access) const {
    constexpr std::string_view https = "https://";
    const std::string server = text_at_path(cluster, "server");
    if (!server.starts_with(https)) {
      return problem("has the server \"" + server + "\"; it must begin with https://");
    }
    for (const char* key : {"insecure-skip-tls-verify", "tls-server-name", "proxy-url"}) {
      const Value* found = cluster.at_path(key);
      if (found != nullptr && *found != Value(false)) {
        return problem("has " + std::string(key) + ", which hpsearchd does not support");
      }
    }
    const std::size_t slash = std::min(server.size(), server.find('/', https.size()));
    access.address = server.substr(0, slash);
    access.prefix = server.substr(slash);
    while (access.prefix.ends_with('/')) {
      access.prefix.pop_back();
    }
    const std::string place = access.address.substr(https.size());
    if (place.find(':', place.starts_with('[') ? place.find(']') : 0) == std::string::npos) {
      access.address += ":443";
    }
    auto authorities = content(cluster, "certificate-authority");
    if (!authorities) {
      return authorities.error();
    }
    access.tls.authorities = *std::move(authorities);
    return Done{};
  }

  [[nodiscard]] Status take_user(const Value& user, ApiAccess& access) const {
    for (const char* key : {"exec", "auth-provider", "username"}) {
      if (user.at_path(key) != nullptr) {
        return problem(
            "has a user with " + std::string(key) +
            ", which hpsearchd does not support: run it in the cluster, or give it a kubeconfig with the "
            "token of a service account (kubectl create token) or a client certificate");
      }
    }
    auto certificate = content(user, "client-certificate");
    auto key = content(user, "client-key");
    const std::string token_file = text_at_path(user, "tokenFile");
    auto token =
        token_file.empty() ? Result<std::string>(text_at_path(user, "token")) : content(user, "tokenFile");
    if (!certificate || !key || !token) {
      return !certificate ? certificate.error() : !key ? key.error() : token.error();
    }
    access.tls.certificate = *std::move(certificate);
    access.tls.key = *std::move(key);
    access.token = without_blanks(*std::move(token));
    if (access.token.empty() && (access.tls.certificate.empty() || access.tls.key.empty())) {
      return problem("has a user without a token, tokenFile or client-certificate with client-key");
    }
    return Done{};
  }

  std::string path_;
  const AccessPlaces& places_;
};

Result<ApiAccess> access_of_pod(const std::string& host, const AccessPlaces& places) {
  const std::string port = places.variable("KUBERNETES_SERVICE_PORT").value_or("443");
  const bool needs_brackets = host.find(':') != std::string::npos;
  ApiAccess access;
  access.address = "https://" + (needs_brackets ? "[" + host + "]" : host) + ":" + port;
  auto token = places.file_content(pod_directory + "token");
  auto authorities = places.file_content(pod_directory + "ca.crt");
  auto name_space = places.file_content(pod_directory + "namespace");
  for (const auto* file : {&token, &authorities, &name_space}) {
    if (!*file) {
      return Error{
          Errc::wrong_state,
          file->error().message + "; the pod of the daemon needs a service account with its token mounted"};
    }
  }
  access.token = without_blanks(*std::move(token));
  access.tls.authorities = *std::move(authorities);
  access.name_space = without_blanks(*std::move(name_space));
  return access;
}

}  // namespace

AccessPlaces usual_places() {
  return {.variable = [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
          },
          .file_content = [](const std::string& path) -> Result<std::string> {
            std::ifstream file(path, std::ios::binary);
            std::string text(most_bytes, '\0');
            file.read(text.data(), static_cast<std::streamsize>(text.size()));
            if (file.gcount() <= 0) {
              return Error{Errc::wrong_state, "cannot read " + path};
            }
            text.resize(static_cast<std::size_t>(file.gcount()));
            return text;
          }};
}

Result<ApiAccess> read_access(const AccessPlaces& places) {
  if (const auto listed = places.variable("KUBECONFIG")) {
    return Kubeconfig(listed->substr(0, listed->find(':')), places).read();
  }
  if (const auto host = places.variable("KUBERNETES_SERVICE_HOST")) {
    return access_of_pod(*host, places);
  }
  const auto home = places.variable("HOME");
  auto access = Kubeconfig(home.value_or("") + "/.kube/config", places).read();
  if (!access && access.error().message.starts_with("cannot read")) {
    return Error{Errc::wrong_state,
                 access.error().message +
                     "; hpsearchd reaches Kubernetes from a pod with a service account, or with "
                     "the kubeconfig in $KUBECONFIG or ~/.kube/config"};
  }
  return access;
}

}  // namespace hpsearch::daemon::kubernetes
