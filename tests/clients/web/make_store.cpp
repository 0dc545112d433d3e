#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/store/sqlite_store.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/searchers/registry.hpp"

// make_store DIRECTORY [--trials N] [--shape halving|random] [--length N] [--seed N]
//
// Writes the store of a daemon that has run searches with N trials, as real ones leave it: rungs, NaN and
// infinite metrics, nested and wide spaces, names in other scripts, attempts that crashed, were lost and went
// on. The engine decides; programs and workers are made up. The same arguments give the same events.

namespace hpsearch::web {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t begin_of_2026 = 1'767'225'600;
constexpr std::size_t group_size = 20'000;
constexpr std::uint64_t workers = 25;
constexpr std::uint64_t slots_of_a_worker = 8;

struct Arguments {
  std::string directory;
  std::int64_t trials = 100;
  std::string shape = "halving";
  std::int64_t length = 81;
  std::uint64_t seed = 1;
};

Value range(const char* type, double from, double to) {
  return Value::Map{{"type", type}, {"minval", from}, {"maxval", to}};
}
Value whole_range(std::int64_t from, std::int64_t to) {
  return Value::Map{{"type", "int"}, {"minval", from}, {"maxval", to}};
}
Value one_of(Value::List values) {
  return Value::Map{{"type", "categorical"}, {"vals", std::move(values)}};
}
Value log_range(double from, double to) {
  return Value::Map{{"type", "log"}, {"base", 10}, {"minval", from}, {"maxval", to}};
}

/// Ten parameters that vary, on two levels, and one that does not.
Value nested_space() {
  return Value::Map{{"optimizer", Value::Map{{"name", one_of({"adam", "sgd", "lamb"})},
                                             {"lr", log_range(-5, -1)},
                                             {"momentum", range("double", 0, 1)},
                                             {"weight_decay", log_range(-6, -2)}}},
                    {"model", Value::Map{{"layers", whole_range(1, 12)},
                                         {"width", one_of({64, 128, 256, 512})},
                                         {"dropout", range("double", 0, 0.6)},
                                         {"activation", one_of({"relu", "gelu", "スウィッシュ"})}}},
                    {"batch_size", whole_range(8, 512)},
                    {"warmup", range("double", 0, 0.3)},
                    {"data", "imagenet-1k"}};
}

Value wide_space() {
  Value::Map space;
  for (int i = 0; i < 40; ++i) {
    const std::string name = (i % 3 == 0 ? "层" : "p") + std::to_string(i);
    space[name] = i % 4 == 0   ? one_of({"a", "b", "c"})
                  : i % 4 == 1 ? whole_range(0, 100)
                               : range("double", 0, 1);
  }
  return space;
}

Value search(const std::string& name, Value space, std::int64_t trials, std::int64_t length, bool halving) {
  Value::Map searcher{{"name", halving ? "adaptive_asha" : "random"},
                      {"metric", "validation.loss"},
                      {"smaller_is_better", true},
                      {"max_length", Value::Map{{"epochs", length}}},
                      {"max_trials", trials},
                      {"max_concurrent_trials", 0}};
  if (halving) {
    searcher["divisor"] = 3;
    searcher["max_rungs"] = 5;
  }
  return Value::Map{{"name", name},
                    {"description", "made by make_store"},
                    {"labels", Value::List{"vision", "标签"}},
                    {"workspace", "lab"},
                    {"project", "demo"},
                    {"entrypoint", "python3 train.py"},
                    {"hyperparameters", std::move(space)},
                    {"max_restarts", 2},
                    {"reproducibility", Value::Map{{"experiment_seed", 42}}},
                    {"searcher", std::move(searcher)}};
}

double at(const Value& hparams, std::string_view path, double otherwise) {
  const Value* value = hparams.at_path(path);
  return value == nullptr ? otherwise : value->number_or(otherwise);
}

/// Of a training run: what it comes to, how fast, and what befalls it.
struct Course {
  double floor = 0;
  double tau = 10;
  double seconds_per_unit = 20;
  enum class Fate : std::uint8_t { fine, crashes_once, never_works, diverges, explodes } fate = Fate::fine;
};

class Maker {
 public:
  Maker(const Arguments& arguments, daemon::EventStore& store)
      : arguments_(arguments),
        store_(store),
        engine_(searchers::registry()),
        now_(begin_of_2026 * 1'000'000) {
    engine_.skip_first_look();
    for (std::uint64_t i = 1; i <= workers; ++i) {
      join(i, 1);
    }
  }

  void run_all() {
    run(search("resnet sweep", nested_space(), arguments_.trials, arguments_.length,
               arguments_.shape == "halving"));
    run(search("搜索 🚀 <b>学习率</b> & \"quotes\"", wide_space(),
               std::min<std::int64_t>(100, arguments_.trials), 9, false));
    Value broken = search("every program fails", nested_space(), 6, 9, false);
    fails_ = true;
    run(broken);
    fails_ = false;
    pause_after_ = 300;
    run(search("paused half way", nested_space(), 60, 27, true));
    flush();
  }
  [[nodiscard]] std::uint64_t events() const { return engine_.last_lsn().number(); }

 private:
  struct Program {
    AttemptKey key;
    WorkerId worker;
    Units length{};
    Units reached{};
    std::uint64_t next_seq = 1;
    std::optional<Decision> told{};

    [[nodiscard]] bool is_to_end() const { return told && told->directive != Directive::train_on; }
  };

  [[nodiscard]] double chance(const AttemptKey& key, std::uint64_t what, const char* purpose) const {
    return Draw(arguments_.seed * 1'000'003 + key.experiment.number(),
                TrialNumber(key.trial.number() * 1'009 + what), purpose)
        .unit();
  }

  void join(std::uint64_t number, std::uint64_t incarnation) {
    JoinWorker worker;
    worker.uid = "made-" + std::to_string(number);
    worker.name = "node" + std::to_string(number) + (number == 3 ? ".机房.example" : ".example");
    worker.incarnation = incarnation;
    worker.slots = slots_of_a_worker;
    worker.slot_kind = "gpu";
    step(std::move(worker));
  }

  void run(Value config) {
    CreateExperiment create;
    create.config = std::move(config);
    step(std::move(create));
    experiment_ = ExperimentId(experiment_.number() + 1);
    std::uint64_t reports = 0;
    while (!due_.empty()) {
      const auto [when, number] = due_.top();
      due_.pop();
      now_ = std::max(now_, when);
      const auto found = programs_.find(number);
      if (found == programs_.end()) {
        continue;
      }
      if (++reports % 4'999 == 0) {
        lose_worker(found->second.worker);
        continue;
      }
      if (pause_after_ > 0 && reports == pause_after_) {
        step(PauseExperiment{experiment_});
      }
      report(number);
      settle();
    }
  }

  void settle() {
    while (engine_.next_deadline() && engine_.next_deadline()->micros() <= now_) {
      step(CheckTimers{});
    }
    for (int i = 0; due_.empty() && engine_.next_deadline() && i < 1'000;
         ++i) {  // Until something starts again.
      now_ = std::max(now_, engine_.next_deadline()->micros());
      step(CheckTimers{});
    }
  }

  void lose_worker(WorkerId worker) {
    for (auto program = programs_.begin(); program != programs_.end();) {
      program = program->second.worker == worker ? programs_.erase(program) : std::next(program);
    }
    step(LoseWorker{worker, "the node was drained"});
    now_ += 5'000'000;
    join(worker.number(), ++incarnations_[worker.number()] + 1);
  }

  [[nodiscard]] Course course_of(const AttemptKey& key) const {
    const Value hparams = engine_.find(key.experiment)->hparams[key.trial.number()];
    Course course;
    const double lr = std::log10(std::max(1e-9, at(hparams, "optimizer.lr", 1e-3)));
    const double dropout = at(hparams, "model.dropout", 0.2);
    const double layers = at(hparams, "model.layers", 6);
    course.floor = 0.08 + 0.11 * (lr + 3) * (lr + 3) + 0.5 * (dropout - 0.25) * (dropout - 0.25) +
                   0.004 * (layers - 7) * (layers - 7) + 0.06 * at(hparams, "p1", 0) / 100 +
                   0.05 * chance(key, 1, "floor");
    course.tau = 4 + 12 * chance(key, 2, "tau");
    course.seconds_per_unit = 5 + 60 * chance(key, 3, "speed") * layers / 6;
    const double fate = chance(key, 4, "fate");
    course.fate = fails_         ? Course::Fate::never_works
                  : fate < 0.02  ? Course::Fate::crashes_once
                  : fate < 0.03  ? Course::Fate::never_works
                  : fate < 0.04  ? Course::Fate::diverges
                  : fate < 0.045 ? Course::Fate::explodes
                                 : Course::Fate::fine;
    return course;
  }

  [[nodiscard]] Metrics measured(const Program& program, const Course& course) const {
    const auto step = static_cast<double>(count(program.reached));
    const double noise = 0.02 * (chance(program.key, 100 + count(program.reached), "noise") - 0.5);
    double loss = course.floor + (2.3 - course.floor) * std::exp(-step / course.tau) + noise;
    if (course.fate == Course::Fate::diverges && step > 2) {
      loss = std::numeric_limits<double>::quiet_NaN();
    } else if (course.fate == Course::Fate::explodes && step > 1) {
      loss = std::numeric_limits<double>::infinity();
    }
    return {{"training.loss", loss * 0.9 + noise},
            {"validation.accuracy", 1 / (1 + loss)},
            {"validation.loss", loss}};
  }

  void report(std::uint64_t number) {
    Program& program = programs_.at(number);
    if (program.is_to_end()) {
      end(number, {});
      return;
    }
    const Course course = course_of(program.key);
    const bool crashes = course.fate == Course::Fate::never_works ||
                         (course.fate == Course::Fate::crashes_once && program.key.attempt.number() == 1);
    if (crashes && (count(program.reached) >= 2 || fails_)) {
      end(number, {ExitReport::Cause::exited, 1, "exit code 1",
                   "Traceback (most recent call last):\n  File \"train.py\", line 7\nRuntimeError: CUDA out "
                   "of memory"});
      return;
    }
    program.reached = Units{count(program.reached) + 1};
    TakeReports reports{program.worker, program.key, program.next_seq++, {}};
    reports.reports.emplace_back(MetricsReport{program.reached, measured(program, course)});
    step(std::move(reports));
    const auto still = programs_.find(number);
    if (still == programs_.end()) {
      return;
    }
    if (still->second.is_to_end() || still->second.reached >= still->second.length) {
      end(number, {});
      return;
    }
    plan(number, course.seconds_per_unit);
  }

  void end(std::uint64_t number, ExitReport exit) {
    const Program program = programs_.at(number);
    programs_.erase(number);
    TakeReports reports{program.worker, program.key, program.next_seq, {}};
    reports.reports.emplace_back(std::move(exit));
    step(std::move(reports));
  }

  void plan(std::uint64_t number, double seconds) {
    due_.emplace(now_ + std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds * 1e6)), number);
  }

  void step(Command command) {
    now_ += 1;
    const Status done = engine_.step(std::move(command), Instant::from_micros(now_), effects_);
    HPSEARCH_CHECK(done.has_value(), "what is made asks for nothing wrong");
    std::vector<std::pair<std::uint64_t, double>> started;
    for (const Order& order : effects_.orders) {
      if (const auto* launch = std::get_if<LaunchAttempt>(&order)) {
        Program program;
        program.key = launch->spec.key;
        program.worker = launch->worker;
        program.length = launch->spec.length;
        program.reached = engine_.find(program.key.experiment, program.key.trial)->reached;
        programs_[++last_program_] = program;
        started.emplace_back(last_program_, course_of(program.key).seconds_per_unit);
      } else if (const auto* decision = std::get_if<DecideAttempt>(&order)) {
        tell(*decision);
      }
    }
    for (Event& event : effects_.events) {
      group_.push_back(std::move(event));
    }
    if (group_.size() >= group_size) {
      flush();
    }
    for (const auto& [number, seconds] : started) {
      const Program& program = programs_.at(number);
      plan(number, seconds);
      this->step(ConfirmStart{program.worker, program.key});
    }
  }

  void tell(const DecideAttempt& decision) {
    for (auto& [number, program] : programs_) {
      if (program.key == decision.key) {
        program.told = decision.decision;
        if (program.is_to_end()) {
          plan(number, 1);
        } else {
          program.length = decision.decision.length;
        }
      }
    }
  }

  void flush() {
    HPSEARCH_CHECK(store_.append(group_).has_value(), "there is room on the disk");
    group_.clear();
  }

  const Arguments& arguments_;
  daemon::EventStore& store_;
  Engine engine_;
  Effects effects_;
  std::vector<Event> group_;
  std::int64_t now_;
  ExperimentId experiment_;
  std::map<std::uint64_t, Program> programs_;
  std::map<std::uint64_t, std::uint64_t> incarnations_;
  std::uint64_t last_program_ = 0;
  using Due = std::pair<std::int64_t, std::uint64_t>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t pause_after_ = 0;
  bool fails_ = false;
};

int usage() {
  std::cerr << "usage: make_store DIRECTORY [--trials N] [--shape halving|random] [--length N] [--seed N]\n";
  return 2;
}

int run(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      arguments.directory = word;
      continue;
    }
    if (i + 1 >= argc) {
      return usage();
    }
    const std::string value = argv[++i];
    if (word == "--trials") {
      arguments.trials = std::atoll(value.c_str());
    } else if (word == "--length") {
      arguments.length = std::atoll(value.c_str());
    } else if (word == "--seed") {
      arguments.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (word == "--shape" && (value == "halving" || value == "random")) {
      arguments.shape = value;
    } else {
      return usage();
    }
  }
  if (arguments.directory.empty() || arguments.trials < 1 || arguments.length < 1) {
    return usage();
  }
  std::filesystem::create_directories(arguments.directory);
  const std::filesystem::path file = std::filesystem::absolute(arguments.directory) / "events.db";
  if (std::filesystem::exists(file)) {
    std::cerr << "make_store: " << file.string() << " exists already\n";
    return 1;
  }
  auto store = daemon::SqliteStore::open(file.string());
  if (!store) {
    std::cerr << "make_store: " << store.error().message << "\n";
    return 1;
  }
  const Status empty = (*store)->recover([](const Event&) { return Status(Done{}); });
  HPSEARCH_CHECK(empty.has_value(), "a new store is empty");
  Maker maker(arguments, **store);
  maker.run_all();
  std::cout << file.string() << ": " << maker.events() << " events\n";
  return 0;
}

}  // namespace
}  // namespace hpsearch::web

int main(int argc, char** argv) {
  return hpsearch::web::run(argc, argv);
}
