// How good the best configuration found is after so much training: every method on every task with every
// seed, on the real engine under a virtual clock. docs/benchmarks.md shows the result.

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "adversarial.hpp"
#include "bootstrap.hpp"
#include "methods.hpp"
#include "race.hpp"
#include "recorded.hpp"
#include "tasks.hpp"

namespace hpsearch::quality {
namespace {

constexpr int skipped = 77;  // CTest's SKIP_RETURN_CODE.

constexpr std::string_view usage =
    "usage: quality_bench [--lcbench | --synthetic | --adversarial | --recorded DIR] [--data DIR] \n"
    "                     [--workers W] [--instances A,B] [--seeds N] [--first-seed N] [--methods A,B] "
    "[--budgets 10,30,100]\n"
    "                     [--threads T] [--csv FILE] [--summary FILE] [--check]\n"
    "\n"
    "  --data DIR     where the LCBench surrogate lies (or HPSEARCH_LCBENCH_DIR); without it, synthetic "
    "curves\n"
    "  --lcbench      insist on the surrogate: without its data end with status 77\n"
    "  --synthetic    synthetic curves although there is data\n"
    "  --adversarial  formulas that punish a searcher that trusts what it has learnt\n"
    "  --recorded DIR tables that bench/quality/record_curves.py made: real networks\n"
    "  --instances    tasks by name; of the surrogate any of its data sets (its ten development instances)\n"
    "  --seeds N      so many seeds (10), from --first-seed N (1) on\n"
    "  --budgets LIST full trainings of work, ascending (10,30,100)\n"
    "  --csv FILE     every run; --summary FILE: means and intervals\n"
    "  --check        end with status 1 unless every method beats random search at the last budget\n";

struct Options {
  std::string data;
  bool lcbench = false;
  bool synthetic = false;
  bool adversarial = false;
  std::string recorded;
  std::uint64_t workers = 8;
  std::vector<std::string> instances;
  std::uint64_t seeds = 10;
  std::uint64_t first_seed = 1;
  std::vector<std::string> methods;
  std::vector<double> budgets{10, 30, 100};
  std::uint64_t threads = std::max(1U, std::thread::hardware_concurrency());
  std::string csv;
  std::string summary;
  bool check = false;
};

[[noreturn]] void refuse(const std::string& why) {
  std::cerr << "quality_bench: " << why << "\n" << usage;
  std::exit(2);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

double positive(const std::string& name, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number > 0 && number < 1e6)) {
    refuse(name + " is \"" + text + "\" (a number above 0 and below a million)");
  }
  return number;
}

std::uint64_t whole(const std::string& name, const std::string& text) {
  const double number = positive(name, text);
  if (number < 1 || static_cast<double>(static_cast<std::uint64_t>(number)) < number) {
    refuse(name + " is \"" + text + "\" (an integer of at least 1)");
  }
  return static_cast<std::uint64_t>(number);
}

Options read_arguments(int argc, char** argv) {
  Options options;
  if (const char* directory = std::getenv("HPSEARCH_LCBENCH_DIR")) {
    options.data = directory;
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) {
        refuse(word + " needs a value");
      }
      return words[++i];
    };
    if (word == "--help" || word == "-h") {
      std::cout << usage;
      std::exit(0);
    } else if (word == "--lcbench") {
      options.lcbench = true;
    } else if (word == "--synthetic") {
      options.synthetic = true;
    } else if (word == "--adversarial") {
      options.adversarial = true;
    } else if (word == "--recorded") {
      options.recorded = value();
    } else if (word == "--check") {
      options.check = true;
    } else if (word == "--data") {
      options.data = value();
    } else if (word == "--workers") {
      options.workers = whole(word, value());
    } else if (word == "--instances") {
      options.instances = split(value());
    } else if (word == "--seeds") {
      options.seeds = whole(word, value());
    } else if (word == "--first-seed") {
      options.first_seed = whole(word, value());
    } else if (word == "--methods") {
      options.methods = split(value());
    } else if (word == "--budgets") {
      options.budgets.clear();
      for (const std::string& budget : split(value())) {
        options.budgets.push_back(positive(word, budget));
      }
    } else if (word == "--threads") {
      options.threads = whole(word, value());
    } else if (word == "--csv") {
      options.csv = value();
    } else if (word == "--summary") {
      options.summary = value();
    } else {
      refuse("there is no option \"" + word + "\"");
    }
  }
  if (options.budgets.empty() || !std::is_sorted(options.budgets.begin(), options.budgets.end())) {
    refuse("--budgets must ascend");
  }
  return options;
}

/// Those of `all` that are named; all when none is. An unknown name is refused.
template <class Thing>
std::vector<Thing> chosen(const std::vector<Thing>& all, const std::vector<std::string>& names,
                          const char* option) {
  if (names.empty()) {
    return all;
  }
  std::vector<Thing> found;
  for (const std::string& name : names) {
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const Thing& thing) { return thing.name == name; });
    if (at == all.end()) {
      std::string known;
      for (const Thing& thing : all) {
        known += (known.empty() ? "" : ", ") + thing.name;
      }
      refuse(std::string(option) + ": there is no \"" + name + "\" (" + known + ")");
    }
    found.push_back(*at);
  }
  return found;
}

struct Run {
  std::size_t method = 0;
  std::size_t task = 0;
  std::uint64_t seed = 0;
  Race race;
};

/// Different tasks draw different configurations; methods on one task and seed draw the same.
std::uint64_t experiment_seed(std::size_t task, std::uint64_t seed) {
  return seed * 1000 + task;
}

/// All methods on one task with one seed; those of random draws share the curves that were computed already.
std::vector<Run> races(const std::vector<Method>& methods, const std::vector<Task>& tasks, std::size_t task,
                       std::uint64_t seed, const Options& options) {
  const auto curves = tasks[task].curves(experiment_seed(task, seed));
  std::vector<Run> runs;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (methods[m].needs_grid && tasks[task].grid.is_null()) {
      continue;
    }
    // Curves are kept by the trial's number: whose configurations are others needs its own.
    const bool draws_others = methods[m].needs_grid || methods[m].searcher.contains("sampler");
    const auto own = draws_others ? tasks[task].curves(experiment_seed(task, seed)) : nullptr;
    auto done = race(methods[m], tasks[task], own ? *own : *curves, experiment_seed(task, seed),
                     options.workers, options.budgets);
    if (!done) {
      refuse(methods[m].name + ": " + done.error().message);
    }
    runs.push_back({m, task, seed, std::move(*done)});
  }
  return runs;
}

std::vector<Run> all_races(const std::vector<Method>& methods, const std::vector<Task>& tasks,
                           const Options& options) {
  const std::size_t jobs = tasks.size() * options.seeds;
  std::vector<std::vector<Run>> done(jobs);
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  const auto work = [&] {
    for (std::size_t job = next++; job < jobs; job = next++) {
      const std::size_t task = job % tasks.size();
      const std::uint64_t seed = options.first_seed + job / tasks.size();
      done[job] = races(methods, tasks, task, seed, options);
      const std::lock_guard lock(telling);
      std::cerr << "\r" << tasks[task].name << " seed " << seed << " done   " << std::flush;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < options.threads; ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::cerr << "\n";
  std::vector<Run> runs;
  for (std::vector<Run>& some : done) {
    for (Run& run : some) {
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

/// Regret at one budget: the mean over tasks of each seed, then over seeds.
Interval regret_of(const std::vector<Run>& runs, std::size_t method, std::size_t budget) {
  std::map<std::uint64_t, std::vector<double>> by_seed;
  for (const Run& run : runs) {
    if (run.method == method) {
      by_seed[run.seed].push_back(run.race.regret[budget]);
    }
  }
  std::vector<double> means;
  for (const auto& [seed, regrets] : by_seed) {
    double sum = 0;
    for (const double regret : regrets) {
      sum += regret;
    }
    means.push_back(sum / static_cast<double>(regrets.size()));
  }
  return means.empty() ? Interval{} : bootstrap_mean(means, 1);
}

bool took_part(const std::vector<Run>& runs, std::size_t method) {
  return std::any_of(runs.begin(), runs.end(), [&](const Run& run) { return run.method == method; });
}

void write_csv(const std::string& path, const std::vector<Run>& runs, const std::vector<Method>& methods,
               const std::vector<Task>& tasks, const Options& options) {
  std::ofstream out(path);
  out << "method,instance,seed,budget,regret,incumbent,trials,epochs\n" << std::setprecision(9);
  for (const Run& run : runs) {
    for (std::size_t b = 0; b < options.budgets.size(); ++b) {
      out << methods[run.method].name << ',' << tasks[run.task].name << ',' << run.seed << ','
          << options.budgets[b] << ',' << run.race.regret[b] << ',' << run.race.incumbent[b] << ','
          << run.race.trials << ',' << run.race.epochs << '\n';
    }
  }
  if (!out.flush()) {
    refuse("cannot write " + path);
  }
}

void write_summary(const std::string& path, const std::vector<Run>& runs, const std::vector<Method>& methods,
                   const Options& options) {
  std::ofstream out(path);
  out << "method,about,budget,mean,low,high\n" << std::setprecision(9);
  for (std::size_t m = 0; m < methods.size(); ++m) {
    for (std::size_t b = 0; b < options.budgets.size() && took_part(runs, m); ++b) {
      const Interval interval = regret_of(runs, m, b);
      out << methods[m].name << ",\"" << methods[m].about << "\"," << options.budgets[b] << ','
          << interval.mean << ',' << interval.low << ',' << interval.high << '\n';
    }
  }
  if (!out.flush()) {
    refuse("cannot write " + path);
  }
}

/// With intervals where there is room for them.
void print_table(const std::vector<Run>& runs, const std::vector<Method>& methods, const Options& options) {
  const bool wide = options.budgets.size() > 4;
  const int width = wide ? 7 : 23;
  std::printf("%-28s", "regret after");
  for (const double budget : options.budgets) {
    std::printf("%*g", width, budget);
  }
  std::printf("  full trainings\n");
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (!took_part(runs, m)) {
      continue;
    }
    std::printf("%-28s", methods[m].name.c_str());
    for (std::size_t b = 0; b < options.budgets.size(); ++b) {
      const Interval interval = regret_of(runs, m, b);
      if (wide) {
        std::printf("%7.3f", interval.mean);
      } else {
        std::printf("   %.3f [%.3f, %.3f]", interval.mean, interval.low, interval.high);
      }
    }
    std::printf("\n");
  }
}

/// Whether early stopping is worth it: every other method ends below random search.
bool beats_random(const std::vector<Run>& runs, const std::vector<Method>& methods, const Options& options) {
  const std::size_t last = options.budgets.size() - 1;
  std::optional<double> random;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (methods[m].name == "random") {
      random = regret_of(runs, m, last).mean;
    }
  }
  if (!random) {
    refuse("--check needs random among the methods");
  }
  bool all = true;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const double regret = regret_of(runs, m, last).mean;
    if (methods[m].name != "random" && took_part(runs, m) && !(regret < *random)) {
      std::printf("check: %s has regret %.4f, random search has %.4f\n", methods[m].name.c_str(), regret,
                  *random);
      all = false;
    }
  }
  return all;
}

/// The task of the search, and one line about it.
struct Ground {
  std::vector<Task> tasks;
  std::string about;
};

Ground ground_of(engine::Result<std::vector<Task>> tasks, std::string about) {
  if (!tasks) {
    refuse(tasks.error().message);
  }
  return {std::move(*tasks), std::move(about)};
}

Ground ground(const Options& options) {
  if (!options.recorded.empty()) {
    return ground_of(recorded_tasks(options.recorded), "recorded curves of small networks");
  }
  if (options.adversarial) {
    return {adversarial_tasks(), "adversarial formulas"};
  }
  if (!options.synthetic && !options.data.empty()) {
    const std::vector<std::string>& ids =
        options.instances.empty() ? development_instances() : options.instances;
    return ground_of(
        lcbench_tasks(options.data, ids),
        "LCBench surrogate; no grid: two points for each of 7 hyperparameters are 128 full trainings");
  }
  return {
      synthetic_tasks(),
      std::string("synthetic curves") +
          (options.synthetic ? "" : ": no data of the LCBench surrogate (--data or HPSEARCH_LCBENCH_DIR)")};
}

int run(const Options& options) {
  if (options.lcbench && (options.synthetic || options.data.empty())) {
    std::printf(
        "skipped: no data of the LCBench surrogate; name its directory with --data or "
        "HPSEARCH_LCBENCH_DIR\n");
    return skipped;
  }
  const Ground all = ground(options);
  const std::vector<Task> tasks = chosen(all.tasks, options.instances, "--instances");
  const std::vector<Method> methods = chosen(all_methods(), options.methods, "--methods");
  std::printf("%s\n", all.about.c_str());
  const std::uint64_t last_seed = options.first_seed + options.seeds - 1;
  std::printf("%zu tasks, seeds %llu to %llu, %llu workers\n\n", tasks.size(),
              static_cast<unsigned long long>(options.first_seed), static_cast<unsigned long long>(last_seed),
              static_cast<unsigned long long>(options.workers));
  const std::vector<Run> runs = all_races(methods, tasks, options);
  print_table(runs, methods, options);
  if (!options.csv.empty()) {
    write_csv(options.csv, runs, methods, tasks, options);
  }
  if (!options.summary.empty()) {
    write_summary(options.summary, runs, methods, options);
  }
  return options.check && !beats_random(runs, methods, options) ? 1 : 0;
}

}  // namespace
}  // namespace hpsearch::quality

int main(int argc, char** argv) {
  return hpsearch::quality::run(hpsearch::quality::read_arguments(argc, argv));
}
