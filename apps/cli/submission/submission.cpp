#include "cli/submission/submission.hpp"

#include <chrono>

#include "cli/client/interrupts.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/io/files/random_bytes.hpp"

namespace hpsearch::cli {

using engine::Value;

std::string fresh_key() {
  return files::random_hex(16);
}

Outcome<std::uint64_t> submit_experiment(const Client& client, const Value& tree,
                                         const std::string& fallback_name,
                                         const std::string& context_directory,
                                         const std::string& context_digest, const std::string& key) {
  const Value body = Value::Map{{"config", tree},
                                {"name", fallback_name},
                                {"context_directory", context_directory},
                                {"context_digest", context_digest}};
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
      return experiment;
    }
    if (answer.failure().exit != Exit::unreachable || attempt == most_tries) {
      return answer.failure();
    }
    nap(std::chrono::milliseconds(200 * attempt));
  }
}

}  // namespace hpsearch::cli
