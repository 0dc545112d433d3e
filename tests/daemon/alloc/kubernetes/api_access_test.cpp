#include "daemon/alloc/kubernetes/api_access.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "messages.hpp"

// How the daemon finds the API of Kubernetes and its credentials.

namespace hpsearch::daemon::kubernetes {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using Texts = std::map<std::string, std::string>;

AccessPlaces places(Texts variables, Texts files) {
  return {.variable =
              [variables = std::move(variables)](const std::string& name) {
                const auto found = variables.find(name);
                return found == variables.end() ? std::nullopt : std::optional(found->second);
              },
          .file_content = [files = std::move(files)](const std::string& path) -> Result<std::string> {
            const auto found = files.find(path);
            return found == files.end() ? Result<std::string>(Error{Errc::wrong_state, "cannot read " + path})
                                        : found->second;
          }};
}

std::string config(const std::string& user, const std::string& cluster = "server: https://10.0.0.1:6443") {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\ncontexts:\n- name: other\n  context: {}\n- "
         "name: here\n"
         "  context: {cluster: c, user: u, namespace: team-a}\nclusters:\n- name: c\n  cluster:\n    " +
         cluster + "\n    certificate-authority-data: Q0EtUEVNPz8/Cg==\nusers:\n- name: u\n  user:\n    " +
         user + "\n";
}

Result<ApiAccess> access_of(const std::string& kubeconfig, Texts files = {}) {
  files["/home/a/.kube/config"] = kubeconfig;
  return read_access(places({{"HOME", "/home/a"}}, std::move(files)));
}

std::string problem_with(const std::string& kubeconfig) {
  const auto access = access_of(kubeconfig);
  return access ? "it is taken" : access.error().message;
}

TEST(PodAccess, IsItsServiceAccount) {
  const std::string directory = "/var/run/secrets/kubernetes.io/serviceaccount/";
  const Texts files{
      {directory + "token", "word\n"}, {directory + "ca.crt", "CA"}, {directory + "namespace", "search"}};
  const auto access = read_access(places(
      {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}, {"HOME", "/"}}, files));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->address, "https://10.96.0.1:443");
  EXPECT_EQ(access->token, "word") << "headers have no line ends";
  EXPECT_EQ(access->tls.authorities, "CA");
  EXPECT_EQ(access->name_space, "search");
  EXPECT_EQ(read_access(places({{"KUBERNETES_SERVICE_HOST", "fd00::1"}}, files))->address,
            "https://[fd00::1]:443");
  const auto without = read_access(places({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}}, {}));
  EXPECT_MESSAGE(without ? "it is taken" : without.error().message);
}

TEST(KubeconfigAccess, IsThatOfItsContext) {
  const auto access = access_of(config("token: word"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->address, "https://10.0.0.1:6443");
  EXPECT_EQ(access->name_space, "team-a");
  EXPECT_EQ(access->token, "word");
  EXPECT_EQ(access->tls.authorities, "CA-PEM???\n") << "base64 with + and /";
}

TEST(ApiAccess, HasFilesBesideTheKubeconfig) {
  const auto certificate = access_of(config("client-certificate: c.pem\n    client-key: /etc/k.pem"),
                                     {{"/home/a/.kube/c.pem", "CERTIFICATE"}, {"/etc/k.pem", "KEY"}});
  ASSERT_TRUE(certificate) << certificate.error().message;
  EXPECT_EQ(certificate->tls.certificate, "CERTIFICATE");
  EXPECT_EQ(certificate->tls.key, "KEY");
  const auto token = access_of(config("tokenFile: t"), {{"/home/a/.kube/t", "word\n"}});
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->token, "word");
}

TEST(ApiAccess, MayHaveAPathAndNoPort) {
  const auto access = access_of(config("token: word", "server: https://rancher.example.org/k8s/clusters/a/"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->address, "https://rancher.example.org:443");
  EXPECT_EQ(access->prefix, "/k8s/clusters/a");
}

TEST(ApiAccess, PrefersTheKubeconfigOfTheEnvironment) {
  const auto access =
      read_access(places({{"KUBECONFIG", "/k:/other"}, {"KUBERNETES_SERVICE_HOST", "10.96.0.1"}},
                         {{"/k", config("token: word")}}));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->address, "https://10.0.0.1:6443");
}

TEST(ApiAccess, IsRefusedWithTheRemedy) {
  EXPECT_MESSAGE(read_access(places({{"HOME", "/home/a"}}, {})).error().message);
  for (const std::string& text :
       {config("exec: {command: aws}"), config("auth-provider: {}"), config("username: a"), config("{}"),
        config("token: word", "server: http://10.0.0.1:8080"),
        config("token: word", "server: https://10.0.0.1\n    insecure-skip-tls-verify: true"),
        config("client-certificate-data: \"?\"\n    client-key-data: QQ=="), config("tokenFile: missing"),
        std::string("current-context: none"), std::string("a: ["), std::string(),
        std::string("current-context: here\ncontexts: [{name: here, context: {cluster: c, user: u}}]")}) {
    EXPECT_MESSAGE(problem_with(text));
  }
}

}  // namespace
}  // namespace hpsearch::daemon::kubernetes
