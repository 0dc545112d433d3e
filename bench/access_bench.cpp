#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <variant>

#include "daemon/access/authentication.hpp"
#include "hpsearch/engine/base/check.hpp"

// The cost of identifying the sender of a request.

namespace hpsearch::daemon {
namespace {

using engine::Instant;

const Instant now = Instant::from_micros(1'800'000'000'000'000);

/// A daemon's tokens, in a directory of their own.
class StoredTokens {
 public:
  explicit StoredTokens(std::int64_t count) : tokens_(folder()) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto made =
          tokens_.create("token " + std::to_string(i), Role::viewer, Tokens::usual_life, "uid 0", now);
      HPSEARCH_CHECK(made, "a token is made");
      last_ = made->text;
    }
  }
  StoredTokens(const StoredTokens&) = delete;
  StoredTokens& operator=(const StoredTokens&) = delete;
  ~StoredTokens() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] const Tokens& all() const { return tokens_; }
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  const std::string& folder() {
    folder_ = (std::filesystem::temp_directory_path() / "hpsearch-bench-XXXXXX").string();
    HPSEARCH_CHECK(::mkdtemp(folder_.data()) != nullptr, "there is a directory for temporary files");
    return folder_;
  }

  std::string folder_;
  Tokens tokens_;
  std::string last_;
};

net::HttpRequest request_with(const std::string& token) {
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/api/v1/experiments";
  request.peer = {{}, "192.0.2.1"};
  request.headers.emplace_back("Authorization", "Bearer " + token);
  return request;
}

void ask(benchmark::State& state, const Tokens& tokens, const net::HttpRequest& request) {
  Authentication authentication(tokens, {.owner = 1'000});
  for (auto _ : state) {
    auto answer = authentication.caller_of(request, now);
    benchmark::DoNotOptimize(answer);
  }
}

void right_token(benchmark::State& state) {
  const StoredTokens tokens(state.range(0));
  ask(state, tokens.all(), request_with(tokens.last()));
}

void wrong_token(benchmark::State& state) {
  const StoredTokens tokens(state.range(0));
  ask(state, tokens.all(), request_with(Token{"aaaaaaaa", new_secret()}.text()));
}

void socket(benchmark::State& state) {
  const StoredTokens tokens(1);
  net::HttpRequest request = request_with("");
  request.headers.clear();
  request.peer = {1'000U, "uid 1000"};
  ask(state, tokens.all(), request);
}

void one_to_most(benchmark::internal::Benchmark* bench) {
  bench->ArgName("tokens")->Arg(1)->Arg(static_cast<std::int64_t>(Tokens::most_tokens));
}

BENCHMARK(right_token)->Name("access/token")->Apply(one_to_most);
BENCHMARK(wrong_token)->Name("access/wrong_token")->Apply(one_to_most);
BENCHMARK(socket)->Name("access/socket");

}  // namespace
}  // namespace hpsearch::daemon
