#include "daemon/access/tokens.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "daemon/store/files/file_system.hpp"
#include "daemon/store/files/own_file.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::Result;
using engine::Status;

constexpr proto::JsonLimits file_limits{4UL * 1024 * 1024, 8, 100'000};

struct TokenFile {
  std::vector<TokenRecord> tokens;
};
void spell(auto& fields, proto::Is<TokenFile> auto& file) {
  fields("tokens", file.tokens);
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= Tokens::most_name_chars && name.front() != ' ' &&
         name.back() != ' ' &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool has_expired(const TokenRecord& token, Instant now) {
  return token.expires != 0 && token.expires <= now.micros();
}

Error no_such_token(std::string_view id) {
  return {Errc::not_found, "there is no token " + std::string(id) + "; hpsearch token list shows them"};
}

auto with_id(std::vector<TokenRecord>& all, std::string_view id) {
  return std::find_if(all.begin(), all.end(), [&](const TokenRecord& one) { return one.id == id; });
}

Result<std::vector<TokenRecord>> read(const std::string& path) {
  if (const Status believed = check_written_by_owner_alone(path); !believed) {
    return believed.error();
  }
  const auto bytes = kernel_files().read(path);
  if (!bytes) {
    return bytes.error().code == Errc::not_found
               ? Result<std::vector<TokenRecord>>(std::vector<TokenRecord>())
               : bytes.error();
  }
  const auto value =
      proto::parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, file_limits);
  auto file = value ? proto::decode_value<TokenFile>(*value) : Result<TokenFile>(value.error());
  if (!file) {
    return Error{Errc::corrupt, path + ": " + file.error().message};
  }
  return std::move(file->tokens);
}

}  // namespace

Tokens::Tokens(std::string state_directory) : path_(std::move(state_directory) + "/tokens.json") {
  if (auto found = read(path_)) {
    all_ = *std::move(found);
  } else {
    problem_ = found.error().message;
  }
}

Status Tokens::reload() {
  const std::scoped_lock one_at_a_time(changing_);
  auto found = read(path_);
  if (!found) {
    return found.error();
  }
  problem_.clear();
  const std::scoped_lock lock(reading_);
  all_ = *std::move(found);
  return Done{};
}

std::optional<TokenRecord> Tokens::find(const Token& token, Instant now) const {
  const std::string hash = hash_of(token.secret);
  const std::scoped_lock lock(reading_);
  std::size_t found = all_.size();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    // Compares all of it for each token without a branch: the time must reveal nothing about the existing
    // tokens.
    const auto same = static_cast<std::size_t>(equal_hashes(all_[i].hash, hash));
    const auto named = static_cast<std::size_t>(all_[i].id == token.id);
    const auto valid = static_cast<std::size_t>(!has_expired(all_[i], now));
    found -= (found - i) * (same & named & valid);
  }
  return found == all_.size() ? std::nullopt : std::optional(all_[found]);
}

std::optional<TokenRecord> Tokens::find_again(std::string_view id, std::string_view hash, Instant now) const {
  const std::scoped_lock lock(reading_);
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const TokenRecord& one) {
    return one.id == id && one.hash == hash && !has_expired(one, now);
  });
  return found == all_.end() ? std::nullopt : std::optional(*found);
}

std::vector<TokenRecord> Tokens::list(Instant now) const {
  const std::scoped_lock lock(reading_);
  std::vector<TokenRecord> valid = all_;
  std::erase_if(valid, [now](const TokenRecord& one) { return has_expired(one, now); });
  return valid;
}

std::optional<Instant> Tokens::next_expiry(Instant now) const {
  const std::scoped_lock lock(reading_);
  std::optional<Instant> next;
  for (const TokenRecord& one : all_) {
    if (one.expires != 0 && !has_expired(one, now) && (!next || one.expires < next->micros())) {
      next = Instant::from_micros(one.expires);
    }
  }
  return next;
}

Result<Tokens::Made> Tokens::create(const std::string& name, Role role, std::optional<Duration> life,
                                    const std::string& creator, Instant now, const Scope& scope,
                                    const std::string& unix_user) {
  if (!is_name(name)) {
    return Error{Errc::bad_request,
                 "name is \"" + name +
                     "\"; it must be 1 to 64 printable ASCII characters that neither begin nor "
                     "end with a space"};
  }
  if (life && (*life <= Duration() || *life > longest_life)) {
    return Error{Errc::bad_request, "a token must live at least a moment and at most 365 days"};
  }
  const Token token = new_token();
  Made made{{token.id, hash_of(token.secret), name, role, now.micros(), life ? (now + *life).micros() : 0, 0,
             creator, scope.names(), unix_user},
            token.text()};
  const Status stored = change([&](std::vector<TokenRecord>& all) -> Status {
    std::erase_if(all, [now](const TokenRecord& one) { return has_expired(one, now); });
    if (std::any_of(all.begin(), all.end(), [&](const TokenRecord& one) { return one.name == name; })) {
      return Error{Errc::wrong_state, "there is a token named \"" + name + "\" already; rotate or revoke it"};
    }
    if (all.size() >= most_tokens || with_id(all, token.id) != all.end()) {
      return Error{Errc::wrong_state,
                   "there are " + std::to_string(all.size()) +
                       " tokens and there may be 1,000; revoke tokens that are no longer used"};
    }
    all.push_back(made.record);
    return Done{};
  });
  return stored ? Result<Made>(std::move(made)) : stored.error();
}

Result<Tokens::Made> Tokens::rotate(std::string_view id, Instant now) {
  Made made;
  const Status stored = change([&](std::vector<TokenRecord>& all) -> Status {
    const auto found = with_id(all, id);
    if (found == all.end() || has_expired(*found, now)) {
      return no_such_token(id);
    }
    Token token = new_token();
    token.id = found->id;
    found->hash = hash_of(token.secret);
    found->expires = found->expires == 0 ? 0 : now.micros() + (found->expires - found->created);
    found->created = now.micros();
    made = {*found, token.text()};
    return Done{};
  });
  return stored ? Result<Made>(std::move(made)) : stored.error();
}

Status Tokens::revoke(std::string_view id) {
  return change([&](std::vector<TokenRecord>& all) -> Status {
    const auto found = with_id(all, id);
    if (found == all.end()) {
      return no_such_token(id);
    }
    all.erase(found);
    return Done{};
  });
}

std::int64_t Tokens::day_of(Instant now) noexcept {
  const std::int64_t day = Duration::seconds(24LL * 3600).in_micros();
  return now.micros() / day * day;
}

void Tokens::note_use(std::string_view id, Instant now) {
  static_cast<void>(change([&](std::vector<TokenRecord>& all) -> Status {
    std::erase_if(all, [now](const TokenRecord& one) { return has_expired(one, now); });
    if (const auto found = with_id(all, id); found != all.end()) {
      found->used = day_of(now);
    }
    return Done{};
  }));
}

Status Tokens::change(const std::function<Status(std::vector<TokenRecord>&)>& how) {
  const std::scoped_lock one_at_a_time(changing_);
  if (!problem_.empty()) {
    return Error{Errc::unavailable, problem_ + "; repair or remove the file, then send the daemon SIGHUP"};
  }
  TokenFile file;
  {
    const std::scoped_lock lock(reading_);
    file.tokens = all_;
  }
  if (Status changed = how(file.tokens); !changed) {
    return changed;
  }
  const std::string text = proto::pretty_json(proto::encode_value(file)) + "\n";
  const auto write_file = [&]() -> Status {
    const std::array parts{std::as_bytes(std::span(text))};
    return write_file_durably(kernel_files(), path_, parts);
  };
  if (Status written = keep_ ? keep_(text, write_file) : write_file(); !written) {
    return written;
  }
  const std::scoped_lock lock(reading_);
  all_ = std::move(file.tokens);
  return Done{};
}

}  // namespace hpsearch::daemon
