#include "hpsearch/workers/shell/joining.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

#include "hpsearch/io/files/hidden_line.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/net/server_names.hpp"
#include "hpsearch/io/zmq/zmq_port.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/json_file.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;

void spell(auto& fields, proto::Is<JoinedDaemon> auto& joined) {
  fields("address", joined.address);
  fields("server_key", joined.server_key);
  fields("invite", joined.invite);
}

namespace {

constexpr std::size_t longest_invite = 4'096;

fs::path joined_file(const fs::path& state_directory) {
  return state_directory / "joined.json";
}

std::string trimmed(std::string text) {
  constexpr const char* blank = " \t\r\n";
  text.erase(text.find_last_not_of(blank) + 1);
  text.erase(0, std::min(text.find_first_not_of(blank), text.size()));
  return text;
}

/// One conversation with the daemon: JOIN until there is an answer.
class Joining {
 public:
  Joining(const net::InviteToken& invite, proto::Join join, std::chrono::milliseconds patience)
      : invite_(invite), join_(std::move(join)), result_(unreached(patience)) {
    end_ = loop_.after(patience, [this] { loop_.stop(); });
  }

  /// The name under which the key is allowed.
  Result<std::string> run() {
    auto port = net::DealerPort::connect(
        loop_, invite_.endpoint, proto::max_frame_bytes,
        [this](std::span<const std::byte> frame) { take(frame); }, invite_.curve,
        [this](net::DealerPort::Met met) { take(met); }, net::needs_ipv6(invite_.endpoint));
    if (!port) {
      return port.error();
    }
    port_ = *std::move(port);
    loop_.run();
    return result_;
  }

 private:
  [[nodiscard]] Error unreached(std::chrono::milliseconds patience) const {
    return {
        Errc::unavailable,
        "no daemon answers at " + invite_.endpoint + " (tried for " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) +
            " s). Check that hpsearchd runs there and that a firewall lets this machine through. If this "
            "machine reaches it under another address, make an invite with: hpsearch worker invite --address "
            "HOST"};
  }

  void send() { port_->send(proto::encode(proto::Envelope{}, join_)); }

  void end(Result<std::string> result) {
    result_ = std::move(result);
    loop_.stop();
  }

  void take(net::DealerPort::Met met) {
    switch (met) {
      case net::DealerPort::Met::connected:
        send();
        return;
      case net::DealerPort::Met::key_refused:
        end(Error{Errc::bad_request,
                  "the daemon at " + invite_.endpoint +
                      " does not know this invite: it ended more than 7 days ago, or its secret "
                      "is wrong. Ask for another one: hpsearch worker invite"});
        return;
      case net::DealerPort::Met::security_differs:
        end(Error{Errc::bad_request,
                  "the daemon at " + invite_.endpoint +
                      " is not the one that made the invite: it has another key, or runs with "
                      "--workers-open. Ask for another one: hpsearch worker invite"});
        return;
    }
  }

  void take(std::span<const std::byte> frame) {
    const auto framed = proto::decode_from_daemon(frame);
    if (!framed) {
      end(Error{Errc::bad_request, "the daemon's answer can't be read: " + framed.error().message +
                                       ". Install the same release on both machines"});
    } else if (const auto* joined = std::get_if<proto::Joined>(&framed->message)) {
      end(joined->name);
    } else if (const auto* refused = std::get_if<proto::Refused>(&framed->message)) {
      end(Error{Errc::bad_request, refused->why});
    } else if (const auto* retry = std::get_if<proto::RetryAfter>(&framed->message)) {
      retry_ = loop_.after(std::chrono::milliseconds(retry->after_ms), [this] { send(); });
    }
  }

  const net::InviteToken& invite_;
  proto::Join join_;
  net::Loop loop_;
  net::Watch end_;
  net::Watch retry_;
  Result<std::string> result_;
  std::unique_ptr<net::DealerPort> port_;
};

}  // namespace

Result<std::optional<JoinedDaemon>> joined_daemon(const fs::path& state_directory) {
  const fs::path path = joined_file(state_directory);
  auto found = read_json_file<JoinedDaemon>(path);
  if (found) {
    return std::optional(*std::move(found));
  }
  if (found.error().code == Errc::not_found) {
    return std::optional<JoinedDaemon>();
  }
  return Error{found.error().code,
               path.string() + ": " + found.error().message + ". Remove it and join again with an invite"};
}

Result<std::string> invite_text(const std::string& given) {
  if (given.empty() || given == "-") {
    std::string text = trimmed(files::read_hidden_line("Invite: "));
    return text.empty() ? Result<std::string>(Error{Errc::bad_request, "the standard input has no invite"})
                        : std::move(text);
  }
  if (given.front() != '@') {
    return trimmed(given);
  }
  const std::string path = given.substr(1);
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 077U) != 0 &&
      info.st_uid == ::geteuid()) {
    net::log(net::Level::warning,
             path + " can be read by other users, who can join with it, too: chmod 600 " + path);
  }
  auto text = read_file(path, longest_invite);
  if (!text) {
    return Error{Errc::bad_request, "cannot read the invite: " + text.error().message};
  }
  return trimmed(*std::move(text));
}

Result<JoinedDaemon> join(const fs::path& state_directory, const net::InviteToken& invite,
                          const std::string& name, std::chrono::milliseconds patience) {
  const JoinedDaemon daemon{invite.endpoint, invite.curve.server_key,
                            net::invite_id(invite.curve.keys.public_key)};
  std::error_code unknown;
  if (const auto made = make_private_directory(fs::absolute(state_directory, unknown).lexically_normal());
      !made) {
    return made.error();
  }
  const auto before = joined_daemon(state_directory);
  if (before && *before && (*before)->server_key == daemon.server_key && (*before)->invite == daemon.invite) {
    return **before;
  }
  const auto keys = net::curve_keys_in(state_directory);
  if (!keys) {
    return keys.error();
  }
  const auto joined = Joining(invite, proto::Join{name, keys->public_key}, patience).run();
  if (!joined) {
    return joined.error();
  }
  const std::string text = engine::compact_json(proto::encode_value(daemon)) + "\n";
  if (const auto kept = write_file(joined_file(state_directory), text, true, files::Readers::owner); !kept) {
    return kept.error();
  }
  net::log(net::Level::info, "joined the daemon at " + daemon.address + " as worker " + *joined);
  return daemon;
}

}  // namespace hpsearch::workers
