// hpsearch-sim: simulates a cluster on virtual time, one run per seed (docs/testing/simulation.md).

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hpsearch/io/net/log.hpp"
#include "simulation/cluster/cluster.hpp"
#include "simulation/cluster/faults/probes.hpp"

namespace hpsearch::simulation {
namespace {

constexpr std::string_view usage = R"(hpsearch-sim: simulates a cluster on virtual time, one run per seed

  --seeds A..B           run seeds A to B (default: 1..100)
  --hours H              simulated hours with faults per seed (default: drawn from the seed, 1 to 8.2)
  --option NAME=RATE     rate of one fault (default: drawn from the seed); can be repeated
  --store KIND           model, or sqlite: the daemon's real store on a simulated disk (default: drawn from the seed,
                         sqlite for one seed in four)
  --options              list the faults with the unit and range of their rates
  --twice EVERY          run every EVERYth seed twice and require the same digest (default: 100; 0: none)
  --jobs N               number of threads; each runs its own seeds (default: one per processor)
  --seconds S            start no more seeds after S seconds
  --cold-is-failure      exit with code 1 if a fault or a rare situation never occurred
  --least-hours H        exit with code 1 if all runs together simulated fewer hours
  --digest               print each seed's digest and the options drawn from it
  --trace                write each event to stderr and the options to stdout
)";

struct Settings {
  std::uint64_t first = 1;
  std::uint64_t last = 100;
  RunOptions run;
  std::uint64_t twice = 100;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  double seconds = 0;
  bool cold_is_failure = false;
  double least_hours = 0;
  bool digest = false;
};

struct Total {
  std::uint64_t seeds = 0;
  std::uint64_t failed = 0;
  double hours = 0;
  std::uint64_t happened = 0;
  std::uint64_t events = 0;
  std::uint64_t frames = 0;
  std::array<std::uint64_t, fault_count> faults{};
  std::array<std::uint64_t, fault_count> seeds_with{};
  std::array<std::uint64_t, probe_count> probes{};
  std::map<std::string, std::uint64_t> kinds;
};

[[noreturn]] void wrong(const std::string& what) {
  std::cerr << "hpsearch-sim: " << what << "\n\n" << usage;
  std::exit(2);
}

double number(std::string_view option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') {
    wrong(std::string(option) + " is \"" + text + "\"; it must be a number");
  }
  return value;
}

std::uint64_t whole(std::string_view option, const std::string& text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') {
    wrong(std::string(option) + " is \"" + text + "\"; it must be a whole number");
  }
  return value;
}

void list_options() {
  for (const FaultKind& kind : fault_kinds()) {
    std::cout << kind.name << (kind.rate == Rate::per_hour ? "  per hour, " : "  share of opportunities, ")
              << kind.least << " to " << kind.most << '\n';
  }
}

Settings read(int argc, char** argv) {
  Settings settings;
  for (int at = 1; at < argc; ++at) {
    const std::string option = argv[at];
    const auto value = [&]() -> std::string {
      if (at + 1 == argc) {
        wrong(option + " needs a value");
      }
      return argv[++at];
    };
    if (option == "--seeds") {
      const std::string range = value();
      const std::size_t dots = range.find("..");
      settings.first = whole(option, range.substr(0, dots));
      settings.last = dots == std::string::npos ? settings.first : whole(option, range.substr(dots + 2));
    } else if (option == "--hours") {
      settings.run.hours = number(option, value());
    } else if (option == "--option") {
      const std::string given = value();
      const std::size_t equals = given.find('=');
      if (equals == std::string::npos) {
        wrong("--option is \"" + given + "\"; it must be NAME=RATE");
      }
      settings.run.rates.emplace_back(given.substr(0, equals), number(option, given.substr(equals + 1)));
    } else if (option == "--store") {
      const std::string kind = value();
      if (kind != "model" && kind != "sqlite") {
        wrong("--store is \"" + kind + "\"; it must be model or sqlite");
      }
      settings.run.store = kind == "sqlite" ? StoreKind::sqlite : StoreKind::model;
    } else if (option == "--twice") {
      settings.twice = whole(option, value());
    } else if (option == "--jobs") {
      settings.jobs = static_cast<unsigned>(std::max<std::uint64_t>(1, whole(option, value())));
    } else if (option == "--seconds") {
      settings.seconds = number(option, value());
    } else if (option == "--cold-is-failure") {
      settings.cold_is_failure = true;
    } else if (option == "--least-hours") {
      settings.least_hours = number(option, value());
    } else if (option == "--digest") {
      settings.digest = true;
    } else if (option == "--trace") {
      settings.run.trace = true;
    } else if (option == "--options") {
      list_options();
      std::exit(0);
    } else if (option == "--help") {
      std::cout << usage;
      std::exit(0);
    } else {
      wrong("unknown option " + option);
    }
  }
  return settings;
}

class Runs {
 public:
  explicit Runs(Settings settings) : settings_(std::move(settings)), next_(settings_.first) {}

  Total run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < settings_.jobs; ++i) {
      threads.emplace_back([this] { work(); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return total_;
  }

 private:
  void work() {
    for (;;) {
      const std::uint64_t seed = next_++;
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
      if (seed > settings_.last || (settings_.seconds > 0 && spent.count() > settings_.seconds)) {
        break;
      }
      RunOptions options = settings_.run;
      options.seed = seed;
      auto result = run_cluster(options);
      if (!result) {
        wrong(result.error().message);
      }
      if (result->broken.empty() && settings_.twice > 0 && seed % settings_.twice == 0) {
        const auto again = run_cluster(options);
        if (again->digest != result->digest) {
          result->broken = "two runs of this seed had different results";
        }
      }
      const std::scoped_lock lock(mutex_);
      add(seed, *result);
    }
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < probe_count; ++i) {
      total_.probes[i] += probe_counts()[i];
    }
  }

  void add(std::uint64_t seed, const RunResult& result) {
    ++total_.seeds;
    total_.hours += result.simulated_hours;
    total_.happened += result.happened;
    total_.events += result.events;
    total_.frames += result.frames;
    for (std::size_t i = 0; i < fault_count; ++i) {
      total_.faults[i] += result.faults[i];
      total_.seeds_with[i] += result.faults[i] > 0 ? 1U : 0U;
    }
    for (const auto& [kind, count] : result.kinds) {
      total_.kinds[kind] += count;
    }
    if (settings_.digest) {
      std::cout << "seed " << seed << " digest " << std::hex << result.digest << std::dec << '\n';
    }
    if (settings_.digest || settings_.run.trace) {
      std::cout << "  " << result.options << '\n';
    }
    if (!result.broken.empty()) {
      ++total_.failed;
      RunOptions options = settings_.run;
      options.seed = seed;
      std::cout << "seed " << seed << ": " << result.broken << "\n  " << result.options
                << "\n  replay: " << replay_command(options) << std::endl;
    }
  }

  Settings settings_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next_;
  std::mutex mutex_;
  Total total_;
};

void print_counts(const char* name, const std::map<std::string, std::uint64_t>& counts) {
  std::cout << "  \"" << name << "\": {";
  const char* separator = "";
  for (const auto& [key, count] : counts) {
    std::cout << separator << '"' << key << "\": " << count;
    separator = ", ";
  }
  std::cout << "},\n";
}

/// A JSON object, and the exit status.
int summarise(const Settings& settings, const Total& total, double seconds) {
  std::map<std::string, std::uint64_t> faults;
  std::map<std::string, std::uint64_t> seeds_with;
  std::map<std::string, std::uint64_t> probes;
  std::vector<std::string> cold;
  for (const FaultKind& kind : fault_kinds()) {
    const auto at = static_cast<std::size_t>(kind.fault);
    faults[std::string(kind.name)] = total.faults[at];
    seeds_with[std::string(kind.name)] = total.seeds_with[at];
    if (total.faults[at] == 0) {
      cold.emplace_back(kind.name);
    }
  }
  for (std::size_t i = 0; i < probe_count; ++i) {
    const std::string name(name_of(static_cast<Probe>(i)));
    probes[name] = total.probes[i];
    if (total.probes[i] == 0) {
      cold.push_back(name);
    }
  }
  std::cout << "{\n  \"seeds\": " << total.seeds << ", \"failed\": " << total.failed
            << ",\n  \"simulated_hours\": " << total.hours << ", \"seconds\": " << seconds
            << ", \"jobs\": " << settings.jobs
            << ",\n  \"times_real_time_per_core\": " << total.hours * 3'600 / (seconds * settings.jobs)
            << ",\n  \"happened\": " << total.happened << ", \"events\": " << total.events
            << ", \"frames\": " << total.frames << ",\n";
  print_counts("faults", faults);
  print_counts("seeds_with_fault", seeds_with);
  print_counts("events_by_kind", total.kinds);
  print_counts("probes", probes);
  std::cout << "  \"never_reached\": [";
  for (std::size_t i = 0; i < cold.size(); ++i) {
    std::cout << (i == 0 ? "\"" : ", \"") << cold[i] << '"';
  }
  std::cout << "]\n}\n";
  const bool too_little = total.hours < settings.least_hours || (settings.cold_is_failure && !cold.empty());
  return total.failed > 0 || too_little ? 1 : 0;
}

}  // namespace
}  // namespace hpsearch::simulation

int main(int argc, char** argv) {
  using namespace hpsearch;
  const simulation::Settings settings = simulation::read(argc, argv);
  net::set_log_level("error");
  const auto began = std::chrono::steady_clock::now();
  const simulation::Total total = simulation::Runs(settings).run();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
  return simulation::summarise(settings, total, spent.count());
}
