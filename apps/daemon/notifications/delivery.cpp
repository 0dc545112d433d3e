#include "daemon/notifications/delivery.hpp"

#include <sodium.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/net/run_command.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;

constexpr std::chrono::seconds patience{10};
constexpr std::chrono::seconds mail_patience{30};
constexpr std::uint64_t most_answer_bytes = 16UL * 1024 * 1024;  // It is not read.

std::string base64_of(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // The zero at its end.
  return text;
}

std::string signature_of(const std::string& key, const std::string& text) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  crypto_auth_hmacsha256_update(&state, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  std::string code(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char*>(code.data()));
  return base64_of(code);
}

/// Control characters would begin another header.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

/// A header's text, as RFC 2047 has one that is not ASCII: in words of at most 75 characters.
std::string header_text(const std::string& text) {
  const std::string line = in_one_line(text);
  if (std::all_of(line.begin(), line.end(), [](unsigned char c) { return c < 0x80; })) {
    return line;
  }
  constexpr std::size_t most = 42;  // Bytes of a word.
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = std::min(at + most, line.size());
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) {
      --end;  // Not within a character.
    }
    out += (out.empty() ? "" : "\r\n ") + std::string("=?UTF-8?B?") +
           base64_of(std::string_view(line).substr(at, end - at)) + "?=";
    at = end;
  }
  return out;
}

/// Slack reads "<!channel>" and links in texts.
std::string escaped_for_slack(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return out;
}

engine::Status post(const Receiver& receiver, const std::string& body, const net::HttpHeaders& headers) {
  const auto answer = net::http_request(receiver.url.address, "POST", receiver.url.target, body, patience,
                                        headers, {most_answer_bytes});
  if (!answer) {
    return Error{Errc::unavailable, answer.error().message};
  }
  if (answer->status < 200 || answer->status > 299) {
    return Error{Errc::unavailable,
                 receiver.url.address + " answered with status " + std::to_string(answer->status)};
  }
  return engine::Done{};
}

engine::Status send_mail(const Notification& notification, const Receiver& receiver,
                         const std::string& sendmail) {
  std::vector<std::string> words{sendmail, "-i", "--"};
  words.insert(words.end(), receiver.to.begin(), receiver.to.end());
  const std::string mail = mail_of(notification, receiver.to);
  const net::CommandAnswer answer = net::run_command(words, mail_patience, {}, mail);
  return answer.succeeded() ? engine::Status(engine::Done{})
                            : engine::Status(Error{Errc::unavailable, sendmail + ": " + answer.complaint()});
}

}  // namespace

net::HttpHeaders webhook_headers(const std::string& key, const std::string& id, std::int64_t seconds,
                                 const std::string& body) {
  const std::string time = std::to_string(seconds);
  net::HttpHeaders headers{{"webhook-id", id}, {"webhook-timestamp", time}};
  if (!key.empty()) {
    headers.emplace_back("webhook-signature", "v1," + signature_of(key, id + "." + time + "." + body));
  }
  return headers;
}

std::string mail_of(const Notification& notification, const std::vector<std::string>& to) {
  std::string text = "To: ";
  for (std::size_t i = 0; i < to.size(); ++i) {
    text += (i == 0 ? "" : ",\r\n ") + to[i];
  }
  text += "\r\nSubject: " + header_text("[hpsearch] " + notification.text) + "\r\nMessage-ID: <" +
          notification.id +
          "@hpsearch>\r\nAuto-Submitted: auto-generated"
          "\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: "
          "8bit\r\n\r\n";
  text += notification.text + "\r\n";
  const auto line = [&text](const char* name, const std::string& value) {
    if (!value.empty()) {
      text += std::string("\r\n") + name + ": " + in_one_line(value);
    }
  };
  line("workspace", notification.workspace);
  line("owner", notification.owner);
  line("page", notification.link);
  return text + "\r\n";
}

engine::Status deliver(const Notification& notification, const Receiver& receiver,
                       const std::string& sendmail) {
  switch (receiver.way) {
    case Receiver::Way::webhook: {
      const std::string body = engine::compact_json(proto::encode_value(notification));
      return post(receiver, body, webhook_headers(receiver.key, notification.id, ::time(nullptr), body));
    }
    case Receiver::Way::slack: {
      const std::string text =
          escaped_for_slack(notification.text) + (notification.link.empty() ? "" : "\n" + notification.link);
      return post(receiver, engine::compact_json(engine::Value::Map{{"text", text}}), {});
    }
    case Receiver::Way::mail:
      return send_mail(notification, receiver, sendmail);
  }
  return engine::Done{};
}

}  // namespace hpsearch::daemon
