#include "daemon/sign_on/sign_in_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "daemon/access/sessions.hpp"
#include "daemon/options/addresses.hpp"
#include "daemon/store/files/own_file.hpp"
#include "hpsearch/engine/config/section.hpp"
#include "hpsearch/io/files/private_file.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Section;

constexpr std::size_t most_name_chars = 40;
constexpr const char* an_address = "as https://host/path; without TLS only on a loopback address";

std::optional<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? std::optional(std::string(std::istreambuf_iterator<char>(file), {})) : std::nullopt;
}

std::string without_end(std::string text, const char* characters) {
  return text.erase(text.find_last_not_of(characters) + 1);
}

/// A text that must be there.
std::string needed(Section& section, std::string_view key, const std::string& allowed) {
  std::string text = section.text(key).value_or("");
  if (!section.has(key)) {
    section.missing(key, allowed);
  } else if (text.empty()) {
    section.problem(key, "is empty", allowed);
  }
  return text;
}

std::string needed_address(Section& section, std::string_view key) {
  std::string text = needed(section, key, an_address);
  if (!text.empty() && (!read_provider_url(text) || text.find('?') != std::string::npos)) {
    section.problem(key, "is \"" + text + "\"", an_address);
  }
  return text;
}

void read_client(Section& section, const fs::path& directory, ProviderSettings& provider) {
  provider.client_id = needed(section, "client_id", "the name under which the provider knows this daemon");
  if (section.has("client_secret")) {
    section.know("client_secret");
    section.problem("client_secret", "must not be in this file", "client_secret_file, a file of its own");
  }
  if (const auto file = section.text("client_secret_file")) {
    const auto secret = files::read_private_file((directory / *file).string());
    provider.client_secret = secret ? without_end(*secret, " \t\r\n") : "";
    if (!secret || provider.client_secret.empty()) {
      section.problem("client_secret_file", secret ? "is an empty file" : secret.error().message);
    }
  }
  if (const auto file = section.text("authorities_file")) {
    const auto authorities = read_text_file((directory / *file).string());
    provider.authorities = authorities.value_or("");
    if (provider.authorities.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
      section.problem("authorities_file", authorities ? "has no certificate" : "cannot be read",
                      "certificates in PEM");
    }
  }
}

ProviderSettings read_provider(Section section, const fs::path& directory) {
  ProviderSettings provider;
  provider.name = needed(section, "name", "the text of the button, up to 40 characters");
  if (provider.name.size() > most_name_chars) {
    section.problem("name", "is longer than 40 characters");
  }
  provider.issuer = needed_address(section, "issuer");
  provider.pages = without_end(needed_address(section, "pages"), "/");
  read_client(section, directory, provider);
  if (section.has("scopes")) {
    provider.scopes = section.texts("scopes");
    if (std::find(provider.scopes.begin(), provider.scopes.end(), "openid") == provider.scopes.end()) {
      section.problem("scopes", "lacks openid", "a list with openid");
    }
  }
  section.know("scopes");
  provider.name_claim = section.text("name_claim").value_or(provider.name_claim);
  provider.groups_claim = section.text("groups_claim").value_or(provider.groups_claim);
  provider.session = section.time("session").value_or(provider.session);
  if (provider.session > Sessions::longest_life) {
    section.problem("session", "is longer than 7 days", "a time such as 12h, up to 7d");
  }
  section.finish();
  return provider;
}

GroupRights read_row(Section section) {
  GroupRights row;
  row.group = needed(section, "group", "the name of a group, or \"*\" for everyone who is signed in");
  const std::string role = needed(section, "role", "viewer, submitter, operator or admin");
  if (const auto known = token_role(role)) {
    row.role = *known;
  } else if (!role.empty()) {
    section.problem("role", "is \"" + role + "\"", "viewer, submitter, operator or admin");
  }
  row.workspaces = section.texts("workspaces");
  if (section.has("workspaces") && row.workspaces.empty()) {
    section.problem("workspaces", "names none", "names of workspaces; without the field: all");
  }
  if (row.workspaces.size() > Scope::most_names) {
    section.problem("workspaces", "has more than " + std::to_string(Scope::most_names) + " names");
  }
  section.finish();
  return row;
}

RoleTable read_roles(Section& whole, engine::Findings& findings) {
  std::vector<GroupRights> rows;
  const engine::Value::List* list = whole.list("roles");
  if (!whole.has("roles") || (list != nullptr && list->empty())) {
    whole.problem("roles", "has no row, so that no one who signs in has a role",
                  "a list of rows: {group: NAME, role: ROLE, workspaces: [NAME]}");
  }
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    rows.push_back(read_row(Section(&(*list)[i], "roles[" + std::to_string(i) + "]", findings)));
  }
  return RoleTable(std::move(rows));
}

}  // namespace

std::optional<Url> read_provider_url(const std::string& text) {
  std::optional<Url> url = read_url(text);
  return url && (url->address.starts_with("https://") || is_on_this_machine(url->address)) ? url
                                                                                           : std::nullopt;
}

Result<SignInFile> read_sign_in_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) {
    return Error{Errc::unavailable, path + " cannot be read"};
  }
  if (const engine::Status own = check_written_by_owner_alone(path); !own) {
    return own.error();
  }
  const yaml::ReadText read = yaml::read_experiment_text(*text);
  engine::Findings findings;
  SignInFile file;
  if (read.tree) {
    Section whole(&*read.tree, "", findings);
    if (whole.has("provider")) {
      file.provider = read_provider(whole.section("provider"), fs::absolute(path).parent_path());
    }
    whole.know("provider");
    file.roles = read_roles(whole, findings);
    whole.finish();
  }
  if (!read.problems.empty() || !findings.problems.empty()) {
    return Error{Errc::bad_request, yaml::all_problems(path, read, findings.problems)};
  }
  return file;
}

}  // namespace hpsearch::daemon
