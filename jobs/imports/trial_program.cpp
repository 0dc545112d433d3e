#include "imports/trial_program.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "hpsearch/jobs/launch/entrypoint_start.hpp"

namespace hpsearch::jobs {
namespace {

/// The text as one word inside double quotes of a shell, where placeholders are still found.
std::string in_double_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    out += std::string_view("\\\"$`").find(c) == std::string_view::npos ? "" : "\\";
    out += c;
  }
  return out + "\"";
}

/// The kind of `launch` for a job of several pods, and what the program has to do for it.
struct Launch {
  std::string_view kind;
  std::string_view hint;
};

Launch launch_of(const TrialJob& job) {
  constexpr Launch torch{"pytorch", "start it with torchrun or by RANK and WORLD_SIZE"};
  constexpr Launch mpi{"mpi", "give mpirun the hosts with --hostfile $HPSEARCH_HOSTFILE"};
  if (job.kind == "PyTorchJob") {
    return torch;
  }
  if (job.kind == "TFJob") {
    return {"tensorflow", "on several workers they get TF_CONFIG"};
  }
  if (job.kind == "MPIJob") {
    return mpi;
  }
  if (job.kind == "XGBoostJob") {
    return {"xgboost", "they get RANK, WORLD_SIZE and MASTER_ADDR"};
  }
  if (job.runtime.find("torch") != std::string::npos) {
    return torch;
  }
  if (job.runtime.find("mpi") != std::string::npos || job.runtime.find("deepspeed") != std::string::npos) {
    return mpi;
  }
  return {"", ""};
}

class TrialProgram {
 public:
  TrialProgram(const TrialJob& job, const TrialValues& values, Draft& draft)
      : job_(job), text_(values.text), variables_(values.variables), draft_(draft) {
    for (const auto& [name, value] : variables_) {
      for_entrypoint_.push_back(name);
    }
  }

  std::vector<std::string> read() && {
    read_variables();
    read_command();
    read_image();
    read_slots();
    read_limits();
    read_rest_of_pod();
    draft_.set_pod_template(pod_template_of(job_));
    return std::move(words_);
  }

 private:
  /// Variables with a fixed value become variables of the environment. Others are set by the entrypoint.
  void read_variables() {
    Value::Map fixed;
    for (const Value& variable : list_member(job_.container, "env")) {
      const std::string name = text_member(variable, "name");
      const Value& given = member_of(variable, "value");
      if (!member_of(variable, "valueFrom").is_null()) {
        draft_.decide("environment", "the variable " + name +
                                         " has its value from the cluster and is left out; programs inherit "
                                         "the variables of their worker");
        continue;
      }
      if (!is_variable_name(name) || is_reserved_variable(name)) {
        draft_.decide("environment", "the variable " + (name.empty() ? quoted(variable) : name) +
                                         " is left out: hpsearch sets it, or it is no name of a variable");
        continue;
      }
      const std::string raw = given.is_null() ? "" : python_text(given);
      const std::string value = expanded(text_(raw));
      variables_[name] = value;
      if (value != with_literal_braces(raw)) {
        for_entrypoint_.push_back(name);
      } else {
        fixed[name] = raw;
      }
    }
    if (!fixed.empty()) {
      draft_.set("environment.environment_variables", std::move(fixed));
    }
    if (!list_member(job_.container, "envFrom").empty()) {
      draft_.decide("environment",
                    "envFrom of the container is left out; programs inherit the variables of "
                    "their worker");
    }
  }

  /// $(NAME) of a variable of the container becomes its value, and $$ becomes $, as in Kubernetes.
  [[nodiscard]] std::string expanded(std::string_view text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view rest = text.substr(i);
      const std::size_t end = rest.starts_with("$(") ? rest.find(')') : std::string_view::npos;
      const auto known = end == std::string_view::npos
                             ? variables_.end()
                             : variables_.find(std::string(rest.substr(2, end - 2)));
      if (known != variables_.end()) {
        out += known->second;
        i += end;
      } else {
        out += text[i];
        i += rest.starts_with("$$") ? 1U : 0U;
      }
    }
    return out;
  }

  void read_command() {
    for (const char* key : {"command", "args"}) {
      for (const Value& word : list_member(job_.container, key)) {
        words_.push_back(expanded(text_(python_text(word))));
      }
    }
    if (words_.empty()) {
      words_ = {"python3", "train.py"};
      if (for_entrypoint_.empty()) {
        words_.emplace_back("{args}");
      }
      draft_.decide("entrypoint", job_.runtime.empty()
                                      ? "the container runs what its image says; write the command here"
                                      : "the runtime " + job_.runtime + " has the command; write it here");
    } else if (list_member(job_.container, "command").empty()) {
      draft_.decide("entrypoint",
                    "these are the arguments of the image's own command; write that before them");
    }
    if (!text_member(job_.container, "image").empty()) {
      draft_.decide("entrypoint",
                    "paths in it are those of the image; programs of yours lie beside this file");
    }
    if (const std::string directory = text_member(job_.container, "workingDir"); !directory.empty()) {
      draft_.decide("entrypoint", "the container starts in " + directory +
                                      "; here programs start in a copy of this file's directory");
    }
    set_variables_of_entrypoint();
    draft_.set("entrypoint", Value::List(words_.begin(), words_.end()));
  }

  void set_variables_of_entrypoint() {
    if (for_entrypoint_.empty()) {
      return;
    }
    for (std::size_t i = 1; i < words_.size(); ++i) {
      if (takes_line_for_shell(std::span(words_).first(i))) {
        std::string line;
        for (const std::string& name : for_entrypoint_) {
          line += "export " + name + "=" + in_double_quotes(variables_.at(name)) + "; ";
        }
        words_[i].insert(0, line);
        return;
      }
    }
    std::vector<std::string> words{"env"};
    for (const std::string& name : for_entrypoint_) {
      words.push_back(name + "=" + variables_.at(name));
    }
    words_.insert(words_.begin(), words.begin(), words.end());
  }

  void read_image() {
    const std::string image = text_member(job_.container, "image");
    if (image.empty()) {
      return;
    }
    draft_.set("environment.image", image);
    draft_.decide("environment.image", "without this line the program runs on the worker itself");
    if (text_member(job_.container, "imagePullPolicy") == "Always") {
      draft_.set("environment.force_pull_image", true);
    }
  }

  void read_slots() {
    std::int64_t pods = 0;
    const std::int64_t devices = accelerators_of(job_.container);
    const bool is_mpi = job_.kind == "MPIJob" && job_.groups.size() > 1;
    std::int64_t slots_per_pod = std::max<std::int64_t>(devices, 1);
    for (const PodGroup& group : job_.groups) {
      if (is_mpi && &group == &job_.groups[0]) {
        continue;  // The launcher doesn't train.
      }
      pods += group.pods;
      if (is_mpi) {
        const Value& containers = member_of(member_of(group.pod_template, "spec"), "containers");
        slots_per_pod = std::max(slots_per_pod, accelerators_of(containers.as_list()->front()));
      }
    }
    for (const Value* processes : {&member_of(job_.spec, "slotsPerWorker"),
                                   &member_of(member_of(job_.spec, "trainer"), "numProcPerNode")}) {
      slots_per_pod = std::max(slots_per_pod, engine::whole_number(*processes).value_or(1));
    }
    constexpr std::int64_t most = 1 << 20;
    const std::int64_t slots = std::min(pods, most) * std::min(slots_per_pod, most);
    if (slots > 1) {
      draft_.set("resources.slots_per_trial", slots);
    }
    if (pods > 1 || is_mpi) {
      set_launch(slots);
    }
  }

  void set_launch(std::int64_t slots) {
    const Launch launch = launch_of(job_);
    const std::string was = "was a " + job_.kind + " of " + counted_pods(job_) + ": a trial gets " +
                            std::to_string(slots) + (slots == 1 ? " slot" : " slots");
    if (launch.kind.empty()) {
      draft_.decide("resources.slots_per_trial",
                    was + " of one worker, because no launch.kind is known for this job");
      return;
    }
    draft_.set("launch.kind", Value(launch.kind));
    draft_.decide("launch.kind",
                  was + ", on several workers if no worker has them; " + std::string(launch.hint));
    for (const PodGroup& group : job_.groups) {
      const bool is_ps = group.role == "PS";
      if (launch.kind == "tensorflow" && (is_ps || group.role == "Evaluator") && group.pods > 0) {
        draft_.set(is_ps ? "launch.roles.ps" : "launch.roles.evaluator", group.pods);
      }
    }
  }

  void read_limits() {
    const Value& policy = member_of(job_.spec, "runPolicy");
    const auto given = [&](std::string_view key) -> const Value& {
      const Value& here = member_of(job_.spec, key);
      return here.is_null() ? member_of(policy, key) : here;
    };
    if (const auto retries = engine::whole_number(given("backoffLimit"));
        retries && *retries >= 0 && *retries < std::int64_t{1} << 31) {
      draft_.set("max_restarts", *retries);
    }
    if (!given("activeDeadlineSeconds").is_null()) {
      draft_.decide("",
                    "activeDeadlineSeconds of the job is left out: the time of one trial can't be limited");
    }
    for (const char* key :
         {"elasticPolicy", "initializer", "podTemplateOverrides", "podSpecOverrides", "runtimePatches"}) {
      if (!member_of(job_.spec, key).is_null()) {
        draft_.decide("", std::string(key) + " of the job is left out");
      }
    }
  }

  /// Names what of the pod is only in the pod template.
  void read_rest_of_pod() {
    constexpr std::array<std::string_view, 8> in_experiment{
        "args", "command", "env", "envFrom", "image", "name", "imagePullPolicy", "workingDir"};
    std::vector<std::string> left;
    const Value& spec = member_of(job_.groups[0].pod_template, "spec");
    for (const auto& [key, member] : *spec.as_map()) {
      if (key != "containers" && key != "restartPolicy") {
        left.push_back(key);
      }
    }
    for (const auto& [key, member] : *job_.container.as_map()) {
      if (std::find(in_experiment.begin(), in_experiment.end(), key) == in_experiment.end()) {
        left.push_back(key);
      }
    }
    for (const Value& other : list_member(spec, "containers")) {
      if (!(other == job_.container)) {
        left.push_back("the container " + text_member(other, "name"));
      }
    }
    if (!left.empty()) {
      draft_.decide("", "what only the pod has is not in this file: " + comma_list(left) +
                            "; `hpsearch import --pod-template POD FILE` writes the pod to the file POD");
    }
  }

  const TrialJob& job_;
  const std::function<std::string(std::string_view)>& text_;
  std::map<std::string, std::string> variables_;  // In the form of an entrypoint.
  std::vector<std::string> for_entrypoint_;       // Names of those whose values differ between trials.
  Draft& draft_;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> read_trial_program(const TrialJob& job, const TrialValues& values, Draft& draft) {
  return TrialProgram(job, values, draft).read();
}

}  // namespace hpsearch::jobs
