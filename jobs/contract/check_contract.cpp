#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/section.hpp"
#include "hpsearch/jobs/dialects/determined.hpp"
#include "hpsearch/jobs/fields/preload.hpp"
#include "hpsearch/jobs/fields/remote_input.hpp"
#include "hpsearch/jobs/launch/argument_text.hpp"
#include "hpsearch/jobs/launch/placeholders.hpp"

namespace hpsearch::jobs {

namespace {

// The longest argument or NAME=VALUE that the kernel accepts. MAX_ARG_STRLEN is one more, for the zero byte
// at the end.
constexpr std::size_t longest_string = std::size_t{128} * 1024 - 1;
constexpr std::size_t longest_number = 24;

/// The values of a leaf that are listed: all of them, except those of a range of numbers.
std::vector<const Value*> named_values(const Space::Leaf& leaf) {
  std::vector<const Value*> values;
  if (const auto* constant = std::get_if<ConstParameter>(&leaf.parameter)) {
    values.push_back(&constant->val);
  } else if (const auto* categorical = std::get_if<CategoricalParameter>(&leaf.parameter)) {
    for (const Value& value : categorical->vals) {
      values.push_back(&value);
    }
  }
  return values;
}

/// All text of the entrypoint, to search it for names.
std::string words_of(const Entrypoint& entrypoint) {
  if (const std::string* line = std::get_if<std::string>(&entrypoint.command)) {
    return *line;
  }
  std::string all;
  for (const std::string& word : std::get<std::vector<std::string>>(entrypoint.command)) {
    all.append(word).push_back('\n');
  }
  return all;
}

/// Whether a channel may have this path. An input may lie in the context directory; an output may have no
/// path.
bool is_place(std::string_view path, bool is_output) {
  if (path.empty()) {
    return is_output;
  }
  return stays_below(path) &&
         (path.front() == '/' || (!is_output && path.find("://") == std::string_view::npos));
}

class ContractCheck {
 public:
  ContractCheck(const ExperimentConfig& config, const Program& program, Problems& problems, Problems& notes)
      : config_(config),
        program_(program),
        words_(words_of(program.entrypoint)),
        problems_(problems),
        notes_(notes) {}

  void all() {
    hyperparameters();
    lengths();
    placeholders();
    channels(program_.contract.inputs, "inputs");
    channels(program_.contract.outputs, "outputs");
    shared_variables();
    variables();
    preload();
    launch();
  }

 private:
  [[nodiscard]] bool says(std::string_view text) const { return words_.find(text) != std::string::npos; }

  void problem(std::string path, std::string what, std::string allowed) {
    problems_.push_back({std::move(path), std::move(what), std::move(allowed)});
  }

  void hyperparameters() {
    const bool by_pai = says("PAI_HPS") || says("PAI_USER_ARGS");
    const bool joins_names = says("{args_eq}") || says("{args_no_hyphens}");
    std::vector<std::string> unfit;
    for (const Space::Leaf& leaf : config_.space.leaves()) {
      const std::string at = "hyperparameters." + leaf.path;
      const std::vector<const Value*> values = named_values(leaf);
      const bool named = is_pai_name(leaf.path);
      const auto odd = std::find_if(values.begin(), values.end(),
                                    [](const Value* value) { return !is_pai_value(*value); });
      if (!named || odd != values.end()) {
        if (by_pai) {
          problem(
              at, named ? "can be " + quoted(**odd) : std::string("has a name that PAI's forms cannot carry"),
              named ? "numbers, texts and booleans: the entrypoint reads PAI's variables, which carry "
                      "nothing else"
                    : "1 to 64 of letters, digits, `_`, `-` and `.`, not beginning with `_`: the entrypoint "
                      "reads PAI's variables");
        } else {
          unfit.push_back(leaf.path);
        }
      }
      if (joins_names && leaf.path.find('=') != std::string::npos) {
        problem(at, "has a name with `=`",
                std::string("one without: ") + (says("{args_eq}") ? "{args_eq}" : "{args_no_hyphens}") +
                    " passes name=value, and would pass another name");
      }
      booleans(leaf, at, values);
      unsafe_words(leaf, at, values);
    }
    if (!unfit.empty()) {
      std::string names;
      for (std::size_t i = 0; i < unfit.size() && i < 3; ++i) {
        names += (i == 0 ? "" : ", ") + unfit[i];
      }
      names += unfit.size() > 3 ? " and " + std::to_string(unfit.size() - 3) + " more" : "";
      notes_.push_back({"hyperparameters",
                        "left out of PAI's variables and hyperparameters.json, which cannot carry them: " +
                            names + "; HPSEARCH_PARAMS has them",
                        ""});
    }
    json_forms();
  }

  void json_forms() {
    std::size_t bytes = 2;
    for (const Space::Leaf& leaf : config_.space.leaves()) {
      const std::vector<const Value*> values = named_values(leaf);
      std::size_t longest = values.empty() ? longest_number : 0;
      for (const Value* value : values) {
        longest = std::max(longest, compact_json(*value).size());
      }
      bytes += compact_json(Value(leaf.path)).size() + 4 + longest;
    }
    const std::size_t allowed = longest_string - std::string_view("HPSEARCH_PARAMS=").size();
    if (bytes > allowed) {
      problem("hyperparameters", "can take " + std::to_string(bytes) + " bytes as JSON",
              "at most " + std::to_string(allowed) + ": one variable has to hold it");
    }
  }

  /// Checks the lengths of the variables that don't depend on a trial.
  void lengths() {
    const auto variable = [this](const std::string& name, std::size_t bytes, const std::string& at) {
      const std::size_t allowed = longest_string - name.size() - 1;
      if (bytes > allowed) {
        problem(at, "takes " + std::to_string(bytes) + " bytes in the variable " + name,
                "at most " + std::to_string(allowed));
      }
    };
    variable("HPSEARCH_EXPERIMENT_NAME", config_.name.size(), "name");
    variable("HPSEARCH_METRIC", config_.searcher.metric.size(), "searcher.metric");
    variable("HPSEARCH_DATA", compact_json(program_.data).size(), "data");
    for (const auto& [name, value] : program_.environment.environment_variables) {
      variable(name, value.size(), "environment.environment_variables");
    }
    if (program_.needs_harness) {
      // This variable holds the whole configuration.
      variable(determined_config_variable, compact_json(to_value(config_)).size(), "hyperparameters");
    }
  }

  void booleans(const Space::Leaf& leaf, const std::string& at, const std::vector<const Value*>& values) {
    const bool by_argument = says("{args}") || says("{args_eq}") || says("{args_no_hyphens}") ||
                             says("PAI_USER_ARGS") || says("{" + leaf.path + "}");
    const bool boolean = std::any_of(values.begin(), values.end(),
                                     [](const Value* value) { return value->as_bool() != nullptr; });
    if (by_argument && boolean && values.size() > 1 && !leaf.bool_style) {
      notes_.push_back(
          {at,
           "is searched and reaches the program as the argument True or False; argparse's type=bool "
           "takes both for true. Say how the program reads it: bool_style: python, lower, int, flag "
           "or empty_false",
           ""});
    }
  }

  void unsafe_words(const Space::Leaf& leaf, const std::string& at, const std::vector<const Value*>& values) {
    if (!(says("$PAI_USER_ARGS") || says("${PAI_USER_ARGS}")) || says("eval")) {
      return;
    }
    for (const Value* value : values) {
      const std::string* text = value->as_text();
      const bool empty =
          value->as_bool() != nullptr && !*value->as_bool() && leaf.bool_style == BoolStyle::empty_false;
      if (empty || (text != nullptr && !is_shell_safe(*text))) {
        notes_.push_back({at,
                          "can be " + quoted(*value) +
                              ", which a bare $PAI_USER_ARGS does not give the program as it is; write eval "
                              "\"... $PAI_USER_ARGS\", or {args}",
                          ""});
        return;
      }
    }
  }

  /// Checks the placeholders here, because otherwise the worker would refuse them at the start of each
  /// attempt.
  void placeholders() {
    constexpr std::int64_t most_placeholders = 1'000;
    if (const auto braces = std::count(words_.begin(), words_.end(), '{'); braces > most_placeholders) {
      return problem(
          "entrypoint", "has " + std::to_string(braces) + " times {",
          "at most " + std::to_string(most_placeholders) + "; {args} stands for all hyperparameters");
    }
    const std::vector<std::vector<EntrypointPiece>> all = pieces_of(program_.entrypoint);
    const bool is_list = !std::holds_alternative<std::string>(program_.entrypoint.command);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string at = "entrypoint" + (is_list ? "[" + std::to_string(i) + "]" : "");
      check_names(all[i], at);
      std::size_t bytes = 0;
      for (const EntrypointPiece& piece : all[i]) {
        bytes += piece.text.size();
        if (program_.needs_harness) {
          continue;  // It receives the entrypoint unchanged.
        }
        if (std::optional<Problem> found = problem_of(piece)) {
          problem(at, std::move(found->what), std::move(found->allowed));
        } else if (piece.is_name && piece.parsed_again) {
          note_parsed_again(piece, at);
        }
      }
      if (bytes > longest_string) {
        problem(at, "takes " + std::to_string(bytes) + " bytes",
                "at most " + std::to_string(longest_string) + ": it is one argument");
      }
    }
  }

  /// Notes that a command that parses its words again splits or executes characters that a shell interprets.
  void note_parsed_again(const EntrypointPiece& piece, const std::string& at) {
    for (const Space::Leaf& leaf : config_.space.leaves()) {
      const bool is_inside = piece.text.starts_with(leaf.path + ".");
      if (!is_all(piece) && !is_inside && leaf.path != piece.text) {
        continue;
      }
      const std::vector<std::string> texts =
          is_inside ? member_texts(leaf, piece.text.substr(leaf.path.size() + 1)) : texts_of(leaf);
      const auto unsafe = std::find_if_not(texts.begin(), texts.end(), is_shell_safe);
      if (unsafe != texts.end()) {
        notes_.push_back({at,
                          "{" + piece.text + "} can be " + quoted(Value(*unsafe)) +
                              " in a command that parses its words again (eval, ssh, bash -c): it would be "
                              "split or executed there. Use letters, digits and @%+=:,./_- for such values, "
                              "or bash -c '… \"$" +
                              variable_of(leaf.path) + "\"'",
                          ""});
        return;
      }
    }
  }

  /// The values as arguments. One number stands for all numbers of a range.
  static std::vector<std::string> texts_of(const Space::Leaf& leaf) {
    std::vector<std::string> texts;
    for (const Value* value : named_values(leaf)) {
      texts.push_back(argument_text(*value, leaf.bool_style.value_or(BoolStyle::python)));
    }
    return texts.empty() ? std::vector<std::string>{"1"} : texts;
  }

  static std::vector<std::string> member_texts(const Space::Leaf& leaf, const std::string& path) {
    std::vector<std::string> texts;
    for (const Value* value : named_values(leaf)) {
      if (const Value* member = member_at(*value, path)) {
        texts.push_back(argument_text(*member));
      }
    }
    return texts;
  }

  /// Whether the group of hyperparameters has the leaf. The hyperparameter "optimizer.lr" is in no group.
  static bool is_in_group(const Space::Leaf& leaf, std::string_view group) {
    std::string around;
    for (std::size_t i = 0; i + 1 < leaf.keys.size() && around.size() < group.size(); ++i) {
      around += (i == 0 ? "" : ".") + leaf.keys[i];
      if (around == group) {
        return true;
      }
    }
    return false;
  }

  void check_names(const std::vector<EntrypointPiece>& pieces, const std::string& at) {
    std::vector<std::string> known(own_placeholders.begin(), own_placeholders.end());
    for (const Space::Leaf& leaf : config_.space.leaves()) {
      known.push_back(leaf.path);
    }
    for (const Channel& channel : program_.contract.inputs) {
      known.push_back("inputs." + channel.name);
    }
    for (const char* channel : {"checkpoints", "logs", "model", "tensorboard"}) {
      known.push_back(std::string("outputs.") + channel);
    }
    for (const Channel& channel : program_.contract.outputs) {
      known.push_back("outputs." + channel.name);
    }
    for (const EntrypointPiece& piece : pieces) {
      const std::string& name = piece.text;
      if (!piece.is_name || piece.place == Place::comment || is_conditional(name, at) ||
          std::find(known.begin(), known.end(), name) != known.end()) {
        continue;
      }
      // A name is known, too, if it is a group of hyperparameters or a member of one that is a map.
      bool is_known = false;
      for (const Space::Leaf& leaf : config_.space.leaves()) {
        const bool inside = name.starts_with(leaf.path + ".");
        const std::size_t having = inside ? member_texts(leaf, name.substr(leaf.path.size() + 1)).size() : 0;
        is_known = is_known || having > 0 || is_in_group(leaf, name);
        if (having > 0 && having < named_values(leaf).size()) {
          problem(at, "names {" + name + "}; not all values of " + leaf.path + " have this member",
                  "members of every value, or {" + leaf.path + "}");
        }
      }
      if (!is_known) {
        const std::string near(nearest(name, known));
        problem(at, "names {" + name + "}; there is no such hyperparameter or placeholder",
                (near.empty() ? "" : "did you mean {" + near + "}? ") +
                    std::string("literal braces are written {{ and }}"));
      }
    }
  }

  /// Refuses names that some trials lack: a hyperparameter with conditions, or a group whose members all have
  /// some.
  bool is_conditional(const std::string& name, const std::string& at) {
    const std::span<const Space::Leaf> leaves = config_.space.leaves();
    std::optional<std::size_t> conditional;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const std::string& path = leaves[i].path;
      if (path == name || is_in_group(leaves[i], name) || name.starts_with(path + ".")) {
        if (leaves[i].when.empty()) {
          return false;
        }
        conditional = i;
      }
    }
    if (conditional) {
      problem(at,
              "names {" + name + "}, which a trial has only when " + config_.space.when_text(*conditional),
              "{args}, {args_eq}, {args_no_hyphens} or {args_json}, which have what a trial has");
    }
    return conditional.has_value();
  }

  void channels(const std::vector<Channel>& channels, const std::string& section) {
    const bool is_output = section == "outputs";
    for (const Channel& channel : channels) {
      const std::string at = section + "." + channel.name;
      if (!is_pai_name(channel.name) || channel.name.find('.') != std::string::npos) {
        problem(at, "has a name that no channel can have",
                "1 to 64 of letters, digits, `_` and `-`, not beginning with `_`");
      }
      const bool is_checkpoints = is_output && channel.name == "checkpoints";
      if (is_checkpoints && !channel.path.empty()) {
        problem(at, "has a path", "none: checkpoints go to checkpoint_storage");
      } else if (const std::string_view scheme = remote_input_scheme(channel.path);
                 !is_output && !scheme.empty() && stays_below(channel.path)) {
        remote(channel, scheme, at);
      } else if (!is_place(channel.path, is_output)) {
        problem(
            at, channel.path.empty() ? std::string("has no path") : "is " + quoted(Value(channel.path)),
            std::string(is_output ? "an absolute path on the workers"
                                  : "an absolute path on the workers, or one below the context directory") +
                ", without `..`; remote storage is mounted there first");
      } else if (channel.pre_download && channel.path.empty() && !is_checkpoints) {
        problem(at, "is to be filled from the attempt before, but has no path",
                "a path that all workers see, where attempts leave it");
      }
      if (channel.passed_as == PassedAs::variable &&
          (!is_variable_name(channel.name) || is_reserved_variable(channel.name) || channel.name == "PATH" ||
           channel.name == "HOME")) {
        problem(at, "cannot be passed as the variable " + channel.name,
                "letters, digits and _, not a name that the system or the worker uses itself");
      }
      if (channel.passed_as == PassedAs::variable &&
          program_.environment.environment_variables.contains(channel.name)) {
        problem(at, "is passed as a variable that environment.environment_variables sets too", "one of them");
      }
      if (channel.passed_as != PassedAs::channel) {
        passed(channel, at);
      }
    }
  }

  /// Checks a remote input. Workers fetch it only if the variables configure its remote.
  void remote(const Channel& channel, std::string_view scheme, const std::string& at) {
    if (configures_remote(program_.environment.environment_variables, scheme)) {
      return;
    }
    const std::string type = scheme == "oss" ? "RCLONE_CONFIG_OSS_TYPE" : "RCLONE_CONFIG_OBS_TYPE";
    problem(at, "is " + quoted(Value(channel.path)) + ", and nothing tells workers how to fetch it",
            "environment.environment_variables with RCLONE_CONFIG, the path of an rclone configuration that "
            "has a "
            "remote " +
                std::string(scheme) + ", or with " + type + " and its kin; or a path on the workers");
  }

  void passed(const Channel& channel, const std::string& at) {
    if (channel.passed_as == PassedAs::argument && !says("{args}") && !says("{args_eq}") &&
        !says("{args_no_hyphens}")) {
      notes_.push_back(
          {at, "is passed as an argument, but the entrypoint has neither {args} nor {args_eq}", ""});
    }
    const auto [place, is_new] = passed_.emplace(channel.name, at);
    if (!is_new) {
      problem(at, "would be passed under the same name as " + place->second, "two names");
    }
    for (const Space::Leaf& leaf : config_.space.leaves()) {
      if (channel.passed_as == PassedAs::argument && leaf.path == channel.name) {
        problem(at, "would be passed under the same name as hyperparameters." + leaf.path, "two names");
      }
    }
  }

  /// Refuses two names that share one variable, because the program would see only one of them.
  void shared_variables() {
    std::map<std::string, std::string> taken;
    const auto take = [&](const std::string& prefix, const std::string& name, const std::string& at) {
      const std::string variable = prefix + variable_part(name);
      const auto [place, is_new] = taken.emplace(variable, at);
      if (!is_new && place->second != at) {
        problem(at, "and " + place->second + " would share the variable " + variable,
                "names that differ in more than capitals and punctuation");
      }
    };
    for (const Space::Leaf& leaf : config_.space.leaves()) {
      take("HPSEARCH_HP_", leaf.path, "hyperparameters." + leaf.path);
    }
    for (const Channel& channel : program_.contract.inputs) {
      take("PAI_INPUT_", channel.name, "inputs." + channel.name);
    }
    for (const char* channel : {"checkpoints", "logs", "model", "tensorboard"}) {
      take("PAI_OUTPUT_", channel, std::string("outputs.") + channel);
    }
    for (const Channel& channel : program_.contract.outputs) {
      take("PAI_OUTPUT_", channel.name, "outputs." + channel.name);
    }
  }

  void variables() {
    for (const auto& [name, value] : program_.environment.environment_variables) {
      if (name.starts_with("MA_") || name.starts_with("VC_") || name == "VK_TASK_INDEX") {
        problem("environment.environment_variables", "sets " + name,
                "any name but those of ModelArts (MA_…, VC_…, VK_TASK_INDEX), which the worker sets");
      }
    }
  }

  void preload() {
    const auto* argv = std::get_if<std::vector<std::string>>(&program_.entrypoint.command);
    if (!program_.environment.preload.empty() && (argv == nullptr || !runs_function(*argv))) {
      problem("environment.preload", "is given for a program that can't import ahead of its trial",
              "nothing; only functions of hpsearch.tune (Python) can");
    }
  }

  void launch() {
    const LaunchConfig& launch = program_.launch;
    if (launch.rank == RankLevel::process && launch.kind != LaunchKind::pytorch) {
      problem("launch.rank",
              "is \"process\" and launch.kind is \"" + std::string(name_of(launch.kind)) + "\"",
              "node; one process per slot is started for pytorch only");
    }
    if (launch.rank == RankLevel::process && config_.resources.slots_per_trial == 0) {
      problem("launch.rank", "is \"process\" and resources.slots_per_trial is 0", "slots for the processes");
    }
    if (launch.rank == RankLevel::process && !program_.contract.image.empty()) {
      problem("launch.rank",
              "is \"process\" and environment.image is " + quoted(Value(program_.contract.image)),
              "node; in a container one process is started, which may be torchrun");
    }
    if (launch.kind != LaunchKind::process && launch.kind != LaunchKind::determined &&
        program_.needs_harness) {
      problem("launch.kind",
              "is \"" + std::string(name_of(launch.kind)) +
                  "\", and the entrypoint runs on the Determined harness",
              "determined, or no launch section: the harness starts the processes of a node itself");
    }
    if (launch.roles != LaunchRoles{}) {
      roles();
    }
  }

  /// Each role is a worker with at least one slot.
  void roles() {
    const LaunchConfig& launch = program_.launch;
    const std::uint64_t slots = config_.resources.slots_per_trial;
    if (launch.kind != LaunchKind::tensorflow) {
      problem("launch.roles", "is set and launch.kind is \"" + std::string(name_of(launch.kind)) + "\"",
              "nothing; roles are tensorflow's");
    } else if (program_.resources.is_single_node) {
      problem("launch.roles", "is set and resources.is_single_node is true",
              "several workers: one for each role");
    } else if (slots < least_workers(launch)) {
      problem("launch.roles",
              "needs " + std::to_string(least_workers(launch)) +
                  " workers with its chief, and resources.slots_per_trial is " + std::to_string(slots),
              "at least a slot for each of them");
    }
  }

  const ExperimentConfig& config_;
  const Program& program_;
  std::string words_;
  Problems& problems_;
  Problems& notes_;
  std::map<std::string, std::string> passed_;  // Name → where it was declared.
};

}  // namespace

void check_contract(const ExperimentConfig& config, const Program& program, Findings& findings) {
  ContractCheck(config, program, findings.problems, findings.notes).all();
}

}  // namespace hpsearch::jobs
