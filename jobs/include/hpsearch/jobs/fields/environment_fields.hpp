#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/jobs/fields/field_kinds.hpp"

// `environment`: all fields that an experiment file may have there, except `experiment_seed`, which the
// engine reads.

namespace hpsearch::jobs {

/// The container images of programs; "" = no container.
struct Images {
  std::string cpu;   ///< For programs without GPUs.
  std::string cuda;  ///< For programs with GPUs.
  friend bool operator==(const Images&, const Images&) = default;
};

using Variables = std::map<std::string, std::string>;

[[nodiscard]] bool is_variable_name(std::string_view name) noexcept;
/// Whether the dynamic loader uses variables with this name, or a worker identifies a program by them.
[[nodiscard]] bool is_reserved_variable(std::string_view name) noexcept;
/// Whether the text has names of letters, digits and _, with dots between them.
[[nodiscard]] bool is_module_name(std::string_view name) noexcept;
[[nodiscard]] bool is_tracker(std::string_view name) noexcept;

namespace kind {

/// A map, or a list of NAME=VALUE. Lists by kind of device are accepted if they are equal.
struct EnvironmentVariables {
  [[nodiscard]] std::optional<Variables> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(const Variables& value) const;
  [[nodiscard]] std::string range() const { return "map of texts and numbers, or list of `NAME=VALUE`"; }
  [[nodiscard]] Value schema() const;
};

/// One image for all devices, or a map by kind of device.
struct ImageNames {
  [[nodiscard]] std::optional<Images> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(const Images& value) const;
  [[nodiscard]] std::string range() const { return "text without blanks, or map of these"; }
  [[nodiscard]] Value schema() const;
};

struct Trackers : RuledTexts {
  constexpr Trackers()
      : RuledTexts{{is_tracker, "a list of mlflow, tensorboard and wandb",
                    "list of `mlflow`, `tensorboard`, `wandb`", ""}} {}

  [[nodiscard]] Value schema() const;
};

}  // namespace kind

/// `environment`.
struct Environment {
  Variables environment_variables;
  std::optional<Images> image;
  bool force_pull_image = false;  ///< The image is pulled for every attempt, even if the worker has it.
  std::string checkpoint_signal;  ///< "SIGUSR1", "SIGUSR2", or "" = none.
  /// How long a program may run after it reached its length, for example to evaluate or to save.
  engine::Duration finish_within = engine::Duration::seconds(3600);
  std::vector<std::string> mirrors;  ///< Trackers that the Python package reports to, each once.
  std::vector<std::string> preload;  ///< Modules that workers import ahead of trials, each once.
  std::string requirements;          ///< "install", "ignore", or "" = the layout decides.
  bool terminal = false;             ///< The program's standard output is a terminal.
  Value registry_auth;  ///< This and the following fields have no effect; they are kept as written.
  Value pod_spec;
  Value add_capabilities;
  Value drop_capabilities;
  Value ports;
  Value proxy_ports;
};

inline constexpr std::string_view no_rights_of_containers =
    "has no effect here: containers run with the worker's rights, in its network";

inline constexpr std::tuple environment_fields{
    Field{"environment_variables", &Environment::environment_variables, kind::EnvironmentVariables{},
          "variables of the program"},
    Field{
        "image", &Environment::image, kind::ImageNames{},
        "image of the [container](job-contract.md#containers) for the program; a map has one image for `cpu` "
        "and one for `cuda` (or `gpu`), and a single entry is used for both"},
    Field{"force_pull_image", &Environment::force_pull_image, kind::Boolean{},
          "pulls the image again for every attempt"},
    Field{"checkpoint_signal", &Environment::checkpoint_signal, kind::Word<2>{{"SIGUSR1", "SIGUSR2"}},
          "the signal on which the program [writes a checkpoint](operating/worker.md#ending-a-trial)"},
    Field{"finish_within", &Environment::finish_within, kind::Time{},
          "how long a program at its length may [finish what it does](operating/worker.md#ending-a-trial): "
          "evaluate, save",
          "`1h`"},
    Field{"mirrors", &Environment::mirrors, kind::Trackers{},
          "[trackers](python/trackers.md) to which programs that use the Python package also report"},
    Field{"preload", &Environment::preload,
          kind::RuledTexts{{is_module_name, "a list of modules of Python, as [torch]", "list of names",
                            "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$"}},
          "modules that a worker imports [ahead of a trial](python/python.md#slow-imports); only for "
          "functions of "
          "`hpsearch.tune`"},
    Field{"requirements", &Environment::requirements, kind::Word<2>{{"install", "ignore"}},
          "[whether](job-contract.md#context) the context's `requirements.txt` is installed before a trial "
          "starts",
          "`ignore`, but `install` with `layout: /ml`"},
    Field{
        "terminal", &Environment::terminal, kind::Boolean{},
        "standard output of the program [is a terminal](reporting.md#4-no-change-at-all), for programs that "
        "buffer their output otherwise"},
    Field{"registry_auth", &Environment::registry_auth,
          kind::AsWritten{kind::FreeMap{},
                          "has no effect here: the container runtime's own login on each worker counts"},
          "no effect: log in on each worker"},
    Field{"pod_spec", &Environment::pod_spec, kind::AsWritten{kind::FreeMap{}, no_rights_of_containers},
          "no effect"},
    Field{"add_capabilities", &Environment::add_capabilities,
          kind::AsWritten{kind::FreeList{}, no_rights_of_containers}, "no effect"},
    Field{"drop_capabilities", &Environment::drop_capabilities,
          kind::AsWritten{kind::FreeList{}, no_rights_of_containers}, "no effect"},
    Field{"ports", &Environment::ports, kind::AsWritten{kind::Anything{}, no_rights_of_containers},
          "no effect"},
    Field{"proxy_ports", &Environment::proxy_ports,
          kind::AsWritten{kind::Anything{}, no_rights_of_containers}, "no effect"},
};

}  // namespace hpsearch::jobs
