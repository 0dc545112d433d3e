#include "daemon/notifications/receivers.hpp"

#include <sodium.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>

#include "hpsearch/engine/config/section.hpp"
#include "hpsearch/io/files/private_file.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Section;

constexpr std::size_t most_key_bytes = 4'096;
constexpr std::size_t least_key_bytes = 16;
constexpr auto wanted_occasions = std::span(occasion_names).first<std::size(occasion_names) - 1>();
constexpr const char* a_url = "as https://host/path";

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos &&
         std::stoul(std::string(text)) - 1 < 65'535;
}

/// "host" or "[::1]"
bool is_host(std::string_view text) {
  const bool is_ipv6 = text.size() > 2 && text.front() == '[' && text.back() == ']';
  const std::string_view inner = is_ipv6 ? text.substr(1, text.size() - 2) : text;
  return !inner.empty() &&
         inner.find_first_not_of(is_ipv6
                                     ? "0123456789abcdefABCDEF:."
                                     : "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
             std::string_view::npos;
}

/// As openssl prints it, too: "AB:CD:…". Nothing: it is no SHA-256.
std::optional<std::string> read_fingerprint(const std::string& text) {
  std::string digits;
  for (const char c : text) {
    if (c != ':') {
      digits += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  const bool is_sha256 =
      digits.size() == 64 && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_sha256 ? std::optional(digits) : std::nullopt;
}

bool is_mail_address(const std::string& text) {
  const std::size_t at = text.find('@');
  return at != std::string::npos && at > 0 && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return c > 0x20 && c < 0x7f && c != '<' && c != '>' && c != ',';
         });
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 64 && text.front() != '.' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
             std::string::npos;
}

std::string all_occasions() {
  std::string text;
  for (const std::string_view name : wanted_occasions) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

std::set<Occasion> read_occasions(Section& section, bool has_experiments_only) {
  section.know("on");
  if (!section.has("on")) {
    std::set<Occasion> usual{Occasion::ended, Occasion::failed, Occasion::paused};
    if (!has_experiments_only) {
      usual.insert(Occasion::worker_lost);
    }
    return usual;
  }
  std::set<Occasion> occasions;
  const std::vector<std::string> names = section.texts("on");
  for (const std::string& name : names) {
    const auto found = std::find(wanted_occasions.begin(), wanted_occasions.end(), name);
    if (found == wanted_occasions.end()) {
      section.problem("on", "has \"" + name + "\"", "any of " + all_occasions());
      continue;
    }
    occasions.insert(static_cast<Occasion>(found - wanted_occasions.begin()));
  }
  if (names.empty()) {
    section.problem("on", "asks for nothing", "any of " + all_occasions());
  }
  if (has_experiments_only && occasions.contains(Occasion::worker_lost)) {
    section.problem("on", "has worker_lost, but workers have no workspace and no labels",
                    "another receiver without workspaces and labels");
  }
  return occasions;
}

void read_secret(Section& section, const fs::path& directory, Receiver& receiver) {
  const auto file = section.text("secret_file");
  if (!file) {
    return;
  }
  const auto secret = files::read_private_file((directory / *file).string());
  if (!secret) {
    section.problem("secret_file", secret.error().message);
    return;
  }
  const auto key = key_of(secret->substr(0, secret->find_last_not_of(" \t\r\n") + 1));
  if (!key) {
    section.problem("secret_file", "begins with whsec_ but is not base64 (with = at its end) behind it");
    return;
  }
  receiver.key = *key;
  if (key->size() < least_key_bytes || key->size() > most_key_bytes) {
    section.problem("secret_file", "has a key of " + std::to_string(key->size()) + " bytes",
                    engine::integers_between(least_key_bytes, most_key_bytes));
  }
}

void read_way(Section& section, const fs::path& directory, Receiver& receiver) {
  const std::optional<std::string> webhook = section.text("webhook");
  const std::optional<std::string> slack = section.text("slack");
  const bool has_mail = section.has("mail");
  receiver.to = section.texts("mail");
  if (int{webhook.has_value()} + int{slack.has_value()} + int{has_mail} != 1) {
    section.findings().problems.push_back(
        {section.path(), "has not exactly one of webhook, slack and mail", ""});
    return;
  }
  const char* key = webhook ? "webhook" : "slack";
  receiver.way = webhook ? Receiver::Way::webhook : slack ? Receiver::Way::slack : Receiver::Way::mail;
  const std::optional<Url> url = read_url(webhook ? *webhook : slack.value_or(""));
  receiver.url = url.value_or(Url{});
  if (!has_mail && !url) {
    section.problem(key, "is no address of a receiver", a_url);
  }
  for (const std::string& address : receiver.to) {
    if (!is_mail_address(address)) {
      section.problem("mail", "has \"" + address + "\"", "addresses, as ann@example.org");
    }
  }
  if (has_mail && receiver.to.empty()) {
    section.problem("mail", "names nobody", "addresses, as ann@example.org");
  }
  if (webhook) {
    read_secret(section, directory, receiver);
  }
  if (const auto given = has_mail ? std::nullopt : section.text("fingerprint")) {
    const auto fingerprint = read_fingerprint(*given);
    if (!fingerprint) {
      section.problem("fingerprint", "is no SHA-256 of a certificate", "64 digits of hexadecimal");
    } else if (url && !url->address.starts_with("https://")) {
      section.problem("fingerprint", "is given for an address without TLS", "an https:// address");
    } else {
      receiver.url.address += "#" + *fingerprint;
    }
  }
}

Receiver read_receiver(const std::string& name, Section section, const fs::path& directory) {
  Receiver receiver;
  receiver.name = name;
  if (!is_name(name)) {
    section.findings().problems.push_back(
        {section.path(), "is no name of a receiver", "at most 64 letters, digits, -, _ and ."});
  }
  read_way(section, directory, receiver);
  receiver.workspaces = section.texts("workspaces");
  receiver.labels = section.texts("labels");
  receiver.on = read_occasions(section, !receiver.workspaces.empty() || !receiver.labels.empty());
  section.finish();
  return receiver;
}

}  // namespace

std::optional<Url> read_url(const std::string& text) {
  const bool tls = text.starts_with("https://");
  if ((!tls && !text.starts_with("http://")) || text.find('#') != std::string::npos ||
      !std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; })) {
    return {};
  }
  const std::string rest = text.substr(tls ? 8 : 7);
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  std::string place = rest.substr(0, path);
  const std::size_t bracket = place.rfind(']');
  const std::size_t colon = place.find(':', bracket == std::string::npos ? 0 : bracket);
  if (!is_host(place.substr(0, colon)) || (colon != std::string::npos && !is_port(place.substr(colon + 1)))) {
    return {};
  }
  place += colon != std::string::npos ? "" : tls ? ":443" : ":80";
  const std::string target = rest.substr(path);
  return Url{(tls ? "https://" : "") + place, (target.starts_with("/") ? "" : "/") + target};
}

std::optional<std::string> key_of(const std::string& secret) {
  constexpr std::string_view prefix = "whsec_";
  if (!secret.starts_with(prefix)) {
    return secret;
  }
  std::string key(secret.size(), '\0');
  std::size_t bytes = 0;
  const bool read = sodium_base642bin(reinterpret_cast<unsigned char*>(key.data()), key.size(),
                                      secret.data() + prefix.size(), secret.size() - prefix.size(), nullptr,
                                      &bytes, nullptr, sodium_base64_VARIANT_ORIGINAL) == 0;
  key.resize(bytes);
  return read ? std::optional(key) : std::nullopt;
}

bool Receiver::wants(const Notification& notification) const {
  const auto has = [](const std::vector<std::string>& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  return on.contains(notification.occasion) &&
         (workspaces.empty() || has(workspaces, notification.workspace)) &&
         (labels.empty() || std::any_of(notification.labels.begin(), notification.labels.end(),
                                        [&](const std::string& label) { return has(labels, label); }));
}

engine::Result<Receivers> read_receivers(const std::string& path) {
  const auto text = files::read_private_file(path);
  if (!text) {
    return text.error();
  }
  const yaml::ReadText read = yaml::read_experiment_text(*text);
  engine::Findings findings;
  Receivers receivers;
  if (read.tree) {
    const fs::path directory = fs::absolute(path).parent_path();
    Section whole(&*read.tree, "", findings);
    receivers.pages = whole.text("pages").value_or("");
    if (!receivers.pages.empty() && !read_url(receivers.pages)) {
      whole.problem("pages", "is no address of the pages", a_url);
    }
    receivers.pages.erase(receivers.pages.find_last_not_of('/') + 1);
    receivers.sendmail = whole.text("sendmail").value_or(receivers.sendmail);
    receivers.new_best_every = whole.time("new_best_every").value_or(receivers.new_best_every);
    if (receivers.new_best_every < engine::Duration::seconds(1)) {
      whole.problem("new_best_every", "is shorter than a second", "as 1m or 1h");
    }
    if (!whole.has("receivers")) {
      whole.missing("receivers", "receivers by their names");
    } else if (const engine::Value::Map* map = whole.map("receivers")) {
      for (const auto& [name, value] : *map) {
        receivers.list.push_back(
            read_receiver(name, Section(&value, engine::path_below("receivers", name), findings), directory));
      }
      if (map->empty()) {
        whole.problem("receivers", "names nobody", "receivers by their names");
      }
    }
    whole.finish();
  }
  if (!read.problems.empty() || !findings.problems.empty()) {
    return Error{Errc::bad_request, yaml::all_problems(path, read, findings.problems)};
  }
  return receivers;
}

}  // namespace hpsearch::daemon
