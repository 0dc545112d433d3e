#include "cli/completion/live_words.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "cli/client/saved_daemons.hpp"
#include "cli/client/search_places.hpp"
#include "cli/client/server.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;

constexpr std::chrono::milliseconds patience{90};
constexpr std::chrono::seconds cached_for{2};
constexpr std::size_t most_trials = 100;
constexpr const char* experiments_target = "/api/v1/experiments?sort=-created_at&limit=200";

/// For this user alone; empty if there is no such place.
fs::path cache_directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const char* home = std::getenv("HOME");
  if (runtime != nullptr && *runtime == '/') {
    return fs::path(runtime) / "hpsearch";
  }
  return home != nullptr && *home == '/' ? fs::path(home) / ".cache" / "hpsearch" : fs::path();
}

/// The answers of daemons to earlier completions.
class Cache {
 public:
  Cache(const std::string& address, const ServerOptions& server, const std::string& target) {
    const fs::path directory = cache_directory();
    if (!directory.empty()) {
      file_ = directory / ("completion-" +
                           files::sha256_of(address + "\n" + server.token_file.value_or("") + "\n" + target));
    }
  }

  [[nodiscard]] std::optional<Value> read() const {
    struct stat status {};
    if (file_.empty() || ::stat(file_.c_str(), &status) != 0 || status.st_uid != ::geteuid()) {
      return std::nullopt;
    }
    const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(0) -
                     std::chrono::seconds(status.st_mtim.tv_sec) -
                     std::chrono::nanoseconds(status.st_mtim.tv_nsec);
    if (age < std::chrono::seconds(0) || age > cached_for) {
      return std::nullopt;
    }
    std::ifstream in(file_);
    auto parsed = proto::parse_json(std::string(std::istreambuf_iterator<char>(in), {}));
    return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
  }

  void write(const Value& answer) const {
    if (!file_.empty() && !files::make_private_directory(file_.parent_path())) {
      static_cast<void>(files::replace_file(file_, engine::compact_json(answer),
                                            files::Durability::of_the_process, files::Readers::owner));
    }
  }

 private:
  fs::path file_;
};

/// The daemon of these words; null if finding it would start one, wait for one or read a token from the
/// standard input.
std::optional<Client> daemon_of(const ServerOptions& server) {
  if (server.token_file == "-") {
    return std::nullopt;
  }
  if (server.state_dir) {
    const StateDirectory state(*server.state_dir);
    const auto addresses = running_daemon(state);
    return addresses ? std::optional(Client(addresses->socket)) : std::nullopt;
  }
  const auto reached = Server::reach_shared(server, Output(Output::Format::json));
  return reached ? std::optional(reached->client()) : std::nullopt;
}

/// GET, or the answer to the same request of a moment ago; null if there is none in time.
Value answer_of(const ServerOptions& server, const std::string& target) {
  std::optional<Client> client = daemon_of(server);
  if (!client) {
    return {};
  }
  const Cache cache(client->address(), server, target);
  if (std::optional<Value> known = cache.read()) {
    return *std::move(known);
  }
  client->set_timeout(patience);
  const Outcome<Value> answer = client->get(target);
  if (!answer) {
    return {};
  }
  cache.write(*answer);
  return *answer;
}

/// The daemon's experiments; without one, those of the search that was run last here, if it runs.
Value experiments_of(const ServerOptions& server) {
  Value answer = answer_of(server, experiments_target);
  if (answer.is_null() && !server.server && !server.state_dir) {
    if (const auto latest = latest_search()) {
      ServerOptions private_one;
      private_one.state_dir = latest->path.string();
      answer = answer_of(private_one, experiments_target);
    }
  }
  return answer;
}

/// One by one, the words that begin like the completed one.
class Words {
 public:
  explicit Words(const Completion& place) : place_(place) {}

  void add(const std::string& word, const std::string& about = "") {
    if (!word.empty() && word.starts_with(place_.word)) {
      found_.push_back({place_.before + printable(word), printable(about)});
    }
  }
  [[nodiscard]] std::vector<Candidate> take() { return std::move(found_); }

 private:
  const Completion& place_;
  std::vector<Candidate> found_;
};

std::string id_of(const Value& entry) {
  return std::to_string(count_at(entry, "id"));
}

/// The experiment's trials as words that begin with `before`.
void add_trials(const Value& experiment, const std::string& before, const std::string& digits, Words& words) {
  for (const std::string& number : numbers_below(count_at(experiment, "trials_total"), digits, most_trials)) {
    words.add(before + number);
  }
}

/// Adds the names of a list that the daemon has at /api/v1/LIST.
void add_names(const Completion& place, const std::string& list, Words& words,
               std::string (*about)(const Value&)) {
  const Value answer = answer_of(place.server, "/api/v1/" + list);
  for (const Value& one : list_at(answer, list)) {
    words.add(text_at(one, "name"), about(one));
  }
}

const Value* experiment_named(const Value::List& all, const std::string& name) {
  for (const Value& one : all) {
    if (id_of(one) == name || text_at(one, "name") == name) {
      return &one;
    }
  }
  return nullptr;
}

void add_experiments(const Completion& place, Words& words) {
  const Value answer = experiments_of(place.server);
  const Value::List& all = list_at(answer, "experiments");
  const std::size_t slash = place.word.find('/');
  if (slash != std::string::npos) {  // EXPERIMENT/TRIAL
    const std::string name = place.word.substr(0, slash);
    if (const Value* experiment = experiment_named(all, name)) {
      add_trials(*experiment, name + "/", place.word.substr(slash + 1), words);
    }
    return;
  }
  if (place.values == Values::trials || (place.values == Values::experiments_or_trials && all.size() == 1)) {
    const Value* experiment =
        place.experiment.empty() && all.size() == 1 ? &all.front() : experiment_named(all, place.experiment);
    if (experiment != nullptr) {
      add_trials(*experiment, "", place.word, words);
    }
  }
  if (place.values == Values::trials) {
    return;
  }
  for (const Value& one : all) {
    words.add(id_of(one), text_at(one, "name") + ", " + text_at(one, "state"));
  }
  for (const Value& one : all) {
    words.add(text_at(one, "name"), "experiment " + id_of(one) + ", " + text_at(one, "state"));
  }
  if (!place.server.server && !place.server.state_dir) {
    for (const SearchPlace& search : searches_here()) {
      words.add(search.name, "search of this directory");
    }
  }
}

}  // namespace

std::vector<Candidate> live_words(const Completion& place) {
  Words words(place);
  switch (place.values) {
    case Values::none:
    case Values::files:
    case Values::directories:
      break;
    case Values::experiments:
    case Values::experiments_or_trials:
    case Values::trials:
      add_experiments(place, words);
      break;
    case Values::workers:
      add_names(place, "workers", words,
                [](const Value& one) { return "worker " + id_of(one) + " on " + text_at(one, "host"); });
      break;
    case Values::queues:
      add_names(place, "queues", words, [](const Value& one) { return text_at(one, "state"); });
      break;
    case Values::workspaces:
      add_names(place, "workspaces", words, [](const Value&) { return std::string(); });
      break;
    case Values::contexts:
      if (const auto saved = load_saved_daemons()) {
        for (const SavedDaemon& daemon : saved->daemons) {
          words.add(daemon.name, daemon.server);
        }
      }
      break;
  }
  return words.take();
}

}  // namespace hpsearch::cli
