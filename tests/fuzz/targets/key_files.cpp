#include <sys/stat.h>

#include "daemon/keys/worker_keys.hpp"
#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/io/zmq/curve.hpp"
#include "scratch.hpp"

// The files with keys that an administrator edits: the workers that may connect, and a secret key. What is
// read has the shape that its header promises.

namespace hpsearch::fuzz {
namespace {

void run_key_files(std::string_view bytes) {
  const Scratch scratch;
  scratch.write("worker_keys", std::string(bytes));
  const auto listed = daemon::WorkerKeys(scratch.path().string()).list();
  if (listed) {
    for (const daemon::WorkerKey& worker : *listed) {
      HPSEARCH_CHECK(!worker.name.empty() && worker.name.size() <= 64, "a name has 1 to 64 characters");
      HPSEARCH_CHECK(net::is_curve_key(worker.key), "a key is a key");
    }
  } else {
    HPSEARCH_CHECK(listed.error().message.find("worker_keys:") != std::string::npos,
                   "an error names its line");
  }
  const std::string secret = scratch.write("curve.key", std::string(bytes));
  HPSEARCH_CHECK(::chmod(secret.c_str(), 0600) == 0, "the file is ours");
  if (const auto keys = net::curve_keys_in(scratch.path().string())) {
    HPSEARCH_CHECK(net::is_curve_key(keys->public_key) && bytes.starts_with(keys->secret_key),
                   "the secret key is the one in the file");
  } else {
    HPSEARCH_CHECK(keys.error().message.find("curve.key") != std::string::npos, "an error names its file");
  }
}

Seeds key_files_seeds() {
  // The keys of the examples in ZeroMQ's manual.
  const std::string key = "54fcba24e93249969316fb617c872bb0c1d1ff14800427c594cbfacf1bc2d652";
  const std::string other = "bb88471d65e2659b30c55a5321cebb5aab2b70a398645c26dca2b2fcb43fc518";
  return {key + "\n", "# workers\n\ngpu-1 " + key + "\n  gpu-2\t" + other + "\r\n",
          "bad " + key.substr(1) + "\n"};
}

const Registered key_files_target({"key_files", run_key_files, key_files_seeds, 100});

}  // namespace
}  // namespace hpsearch::fuzz
