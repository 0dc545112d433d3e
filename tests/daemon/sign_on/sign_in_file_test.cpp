#include "daemon/sign_on/sign_in_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

class FileOfSignIns : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0640) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  /// Without the directory.
  std::string problem_of(const std::string& text, mode_t mode = 0640) {
    const auto read = read_sign_in_file(write("sign-in.yaml", text, mode));
    std::string message = read ? "none" : read.error().message;
    const std::string directory = folder_.path().string() + "/";
    for (std::size_t at = 0; (at = message.find(directory)) != std::string::npos;) {
      message.erase(at, directory.size());
    }
    return message;
  }

  Scratch folder_;
};

constexpr const char* provider =
    "provider:\n"
    "  name: Example\n"
    "  issuer: https://login.example.org/realms/main\n"
    "  client_id: hpsearch\n"
    "  pages: https://hpsearch.example.org/\n";
constexpr const char* roles = "roles: [{group: '*', role: viewer}]\n";

TEST_F(FileOfSignIns, HasAProviderAndRoles) {
  write("client.secret", "s3cret\n", 0600);
  write("ca.pem", "-----BEGIN CERTIFICATE-----\n");
  const auto read = read_sign_in_file(write("sign-in.yaml", std::string(provider) +
                                                                R"(  client_secret_file: client.secret
  authorities_file: ca.pem
  scopes: [openid, groups]
  name_claim: preferred_username
  groups_claim: realm_access.roles
  session: 1h
roles:
  - {group: ml admins, role: admin}
  - {group: /nlp, role: submitter, workspaces: [nlp, audio]}
)"));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(read->provider);
  EXPECT_EQ(read->provider->issuer, "https://login.example.org/realms/main");
  EXPECT_EQ(read->provider->client_secret, "s3cret");
  EXPECT_EQ(read->provider->pages, "https://hpsearch.example.org");
  EXPECT_EQ(read->provider->authorities, "-----BEGIN CERTIFICATE-----\n");
  EXPECT_EQ(read->provider->scopes, (std::vector<std::string>{"openid", "groups"}));
  EXPECT_EQ(read->provider->session, engine::Duration::seconds(3600));
  EXPECT_EQ(read->roles.rights_of({"/nlp"})->scope.text(), "audio, nlp");
  EXPECT_EQ(read->roles.rights_of({"ml admins"})->role, Role::admin);
}

TEST_F(FileOfSignIns, MayHaveRolesAlone) {
  const auto read = read_sign_in_file(write("sign-in.yaml", roles));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->provider);
}

TEST_F(FileOfSignIns, NamesEachMistakeWithItsLine) {
  EXPECT_EQ(
      problem_of(std::string("provider: {name: Example, issuer: 'http://login.example.org', pages: x, "
                             "scopes: [email], session: 30d, client_secret: abc}\n") +
                 "roles:\n- {group: nlp, role: submit}\n- {role: viewer, workspaces: []}\n"),
      "sign-in.yaml:1: provider.issuer: is \"http://login.example.org\" (as https://host/path; without TLS "
      "only on a loopback address)\n"
      "sign-in.yaml:1: provider.pages: is \"x\" (as https://host/path; without TLS only on a loopback "
      "address)\n"
      "sign-in.yaml:1: provider.client_id: is missing (the name under which the provider knows this "
      "daemon)\n"
      "sign-in.yaml:1: provider.client_secret: must not be in this file (client_secret_file, a file of its "
      "own)\n"
      "sign-in.yaml:1: provider.scopes: lacks openid (a list with openid)\n"
      "sign-in.yaml:1: provider.session: is longer than 7 days (a time such as 12h, up to 7d)\n"
      "sign-in.yaml:3: roles[0].role: is \"submit\" (viewer, submitter, operator or admin)\n"
      "sign-in.yaml:4: roles[1].group: is missing (the name of a group, or \"*\" for everyone who is signed "
      "in)\n"
      "sign-in.yaml:4: roles[1].workspaces: names none (names of workspaces; without the field: all)");
  EXPECT_NE(problem_of(provider).find("roles: has no row"), std::string::npos);
}

TEST_F(FileOfSignIns, SecretThatOthersMayReadIsRefused) {
  const std::string text = std::string(provider) + "  client_secret_file: client.secret\n" + roles;
  EXPECT_NE(problem_of(text).find("client.secret cannot be read"), std::string::npos) << problem_of(text);
  write("client.secret", "s3cret", 0644);
  EXPECT_NE(problem_of(text).find("client.secret has secrets, and other users"), std::string::npos);
  write("client.secret", " \n", 0600);
  EXPECT_NE(problem_of(text).find("is an empty file"), std::string::npos);
}

TEST_F(FileOfSignIns, FileThatOthersMayWriteIsRefused) {
  EXPECT_NE(problem_of(roles, 0660).find("could let anyone in"), std::string::npos);
  EXPECT_EQ(problem_of(roles, 0644), "none") << "it has no secrets";
}

TEST(AddressOfAProvider, HasTlsOrIsOnThisMachine) {
  EXPECT_TRUE(read_provider_url("https://login.example.org"));
  EXPECT_TRUE(read_provider_url("http://127.0.0.1:9400/x"));
  EXPECT_TRUE(read_provider_url("http://localhost:9400"));
  for (const char* wrong : {"http://login.example.org", "http://10.0.0.1", "http://localhost.example.org",
                            "login", "https://a b", ""}) {
    EXPECT_FALSE(read_provider_url(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
