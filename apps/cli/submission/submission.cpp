#include "cli/submission/submission.hpp"

#include <chrono>
#include <filesystem>

#include "cli/client/answers.hpp"
#include "cli/client/interrupts.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

Value body_of(const ExperimentFile& file, const SubmittedContext& context) {
  Value::Map body{{"config", file.tree},
                  {"name", file.stem},
                  {"context_directory", context.directory},
                  {"context_digest", context.digest}};
  if (context.git) {
    body["git"] = proto::encode_value(*context.git);
  }
  const std::size_t room = net::HttpRules{}.most_body_bytes;
  Value::Map with_file = body;
  with_file["file"] = Value::Map{
      {"name", file.from_standard_input() ? "" : std::filesystem::path(file.path).filename().string()},
      {"text", file.text}};
  // Results of other searches may have made the configuration large (searcher.prior).
  Value whole(std::move(with_file));
  return engine::compact_json(whole).size() <= room ? whole : Value(std::move(body));
}

}  // namespace

std::string fresh_key() {
  return files::random_hex(16);
}

Outcome<Submitted> submit_experiment(const Client& client, const ExperimentFile& file,
                                     const SubmittedContext& context, const std::string& key) {
  const Value body = body_of(file, context);
  // If an answer is lost, it is not known whether the submission was accepted; the key makes repeating it
  // safe.
  constexpr int most_tries = 3;
  for (int attempt = 1;; ++attempt) {
    const Outcome<Value> answer = client.post("/api/v1/experiments", body, key);
    if (answer) {
      const std::uint64_t experiment = count_at(*answer, "experiment");
      if (experiment == 0) {
        return plain_failure("the daemon at " + client.address() +
                             " accepted the experiment but returned no ID");
      }
      return Submitted{experiment, text_at(*answer, "note")};
    }
    if (answer.failure().exit != Exit::unreachable || attempt == most_tries) {
      return answer.failure();
    }
    nap(std::chrono::milliseconds(200 * attempt));
  }
}

}  // namespace hpsearch::cli
