#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/jobs/fields/field_kinds.hpp"
#include "hpsearch/jobs/launch/launch.hpp"

// The sections that describe how a program is started: `launch`, `inputs`, `outputs`, `bind_mounts` and
// `pai`.

namespace hpsearch::jobs {

inline constexpr std::uint64_t most_of_a_role = 4096;

inline constexpr std::tuple launch_roles_fields{
    Field{"ps", &LaunchRoles::ps, kind::Integer{0, most_of_a_role}, "parameter servers"},
    Field{"evaluator", &LaunchRoles::evaluator, kind::Integer{0, most_of_a_role}, "evaluators"},
};

inline constexpr std::tuple launch_fields{
    Field{"kind", &LaunchConfig::kind, kind::one_of<LaunchKind>(launch_kind_names),
          "framework whose variables are set for the processes",
          "`process`, or `determined` for [programs written for it](operating/determined.md)"},
    Field{"rank", &LaunchConfig::rank, kind::one_of<RankLevel>(rank_level_names),
          "`node`: one process per worker; `process`: one per slot, only for `pytorch` without a container"},
    Field{"roles", &LaunchConfig::roles, kind::Subsection<LaunchRoles, launch_roles_fields>{},
          "only for `tensorflow`: [parameter servers and evaluators](#launchroles)"},
};

// The paths of channels are checked when an experiment is submitted (check_contract.cpp).
[[nodiscard]] constexpr bool is_any_text(std::string_view /*text*/) noexcept {
  return true;
}
inline constexpr kind::TextRule input_path{
    is_any_text, "a path", "absolute, below the context directory, `oss://…` or `obs://…`; without `..`",
    R"(^(?!(.*/)?\.\.(/|$))(/|(?!.*://).|o[sb]s://.))"};
inline constexpr kind::TextRule output_path{is_any_text, "a path", "absolute, without `..`",
                                            R"(^$|^/(?!(.*/)?\.\.(/|$)))"};

inline constexpr std::tuple input_fields{
    Field{"path", &Channel::path, kind::RuledText{input_path},
          "a file or directory, or an [address in OSS or OBS](job-contract.md#channels)", "required"},
    Field{"passed_as", &Channel::passed_as, kind::one_of<PassedAs>(passed_as_names),
          "how the path is passed, besides `PAI_INPUT_NAME`: `argument`: as `--name=path`; `variable`: in a "
          "variable of the channel's name"},
};

inline constexpr std::tuple output_fields{
    Field{"path", &Channel::path, kind::RuledText{output_path},
          "a directory; if empty, the output stays in the attempt's directory. The channel `checkpoints` has "
          "no "
          "path"},
    Field{"passed_as", &Channel::passed_as, kind::one_of<PassedAs>(passed_as_names),
          "how the path is passed, besides `PAI_OUTPUT_NAME`, as for an input"},
    Field{"pre_download", &Channel::pre_download, kind::Boolean{},
          "starts with a copy of the previous attempt's output; requires a path, except for `checkpoints`"},
};

namespace kind {

/// A map of channels by name; each is a path, or a map of the fields in a table.
template <const auto& fields>
struct Channels {
  [[nodiscard]] std::optional<std::vector<Channel>> read(Section& section, std::string_view key) const {
    const Value::Map* given = section.map(key);
    if (given == nullptr) {
      return std::nullopt;
    }
    Section channels = section.section(key);
    std::vector<Channel> found;
    for (const auto& [name, value] : *given) {
      if (name.empty()) {
        section.problem(key, "has a channel without a name", "a name for each path");
      } else if (const std::string* path = value.as_text()) {
        found.push_back({.name = name, .path = *path});
      } else if (value.as_map() != nullptr) {
        Section channel = channels.section(name);
        engine::read_fields(channel, fields, found.emplace_back(Channel{.name = name, .path = {}}));
        channel.finish();
      } else if (!value.is_null()) {
        channels.problem(name, "is " + engine::quoted(value), "a path, or a map of " + names());
      }
    }
    return found;
  }
  [[nodiscard]] Value write(const std::vector<Channel>& value) const {
    Value::Map map;
    for (const Channel& channel : value) {
      if (channel == Channel{.name = channel.name, .path = channel.path}) {
        map[channel.name] = channel.path;
      } else {
        map[channel.name] = Subsection<Channel, fields>{}.write(channel);
      }
    }
    return map;
  }
  [[nodiscard]] std::string range() const { return "map of channels"; }
  [[nodiscard]] Value schema() const {
    const Value path = std::get<0>(fields).kind.schema();
    return Value::Map{{"type", "object"},
                      {"propertyNames", Value::Map{{"pattern", "^[A-Za-z0-9-][A-Za-z0-9_-]{0,63}$"}}},
                      {"additionalProperties",
                       Value::Map{{"anyOf", Value::List{path, Subsection<Channel, fields>{}.schema(),
                                                        Value::Map{{"type", "null"}}}}}}};
  }

 private:
  [[nodiscard]] static std::string names() {
    std::string text;
    engine::each_field(
        fields, [&text](const auto& field) { text += (text.empty() ? "" : ", ") + std::string(field.name); });
    return text.replace(text.rfind(", "), 2, " and ");
  }
};

}  // namespace kind

namespace kind {

/// The output `checkpoints` has no path: checkpoints go to the checkpoint storage.
struct Outputs : Channels<output_fields> {
  [[nodiscard]] Value schema() const {
    Value::Map map = *Channels::schema().as_map();
    map["properties"] = Value::Map{
        {"checkpoints",
         Value::Map{{"description", "Has no path: checkpoints go to checkpoint_storage."},
                    {"allOf", Value::List{Value::Map{{"$ref", "#/properties/outputs/additionalProperties"}}}},
                    {"maxLength", 0},
                    {"properties", Value::Map{{"path", Value::Map{{"maxLength", 0}}}}}}}};
    return map;
  }
};

}  // namespace kind

[[nodiscard]] bool is_place_of_a_mount(std::string_view path) noexcept;

namespace kind {

/// Mounts are private; any other propagation has no effect.
struct MountPropagation : AsWritten<Text> {
  [[nodiscard]] std::optional<Value> read(Section& section, std::string_view key) const;
};

}  // namespace kind

inline constexpr kind::TextRule absolute_path{is_absolute, "an absolute path", "absolute path", "^/"};
inline constexpr kind::TextRule place_of_a_mount{
    is_place_of_a_mount, "a path other than the working directory, without ..", "path without `..`, not `.`",
    R"(^(?!\.$)(?!(.*/)?\.\.(/|$)).)"};

/// An item of `bind_mounts`.
struct GivenMount {
  std::string host_path;
  std::string container_path;
  bool read_only = false;
  Value propagation;  ///< Has no effect; kept as written.
};

inline constexpr std::tuple bind_mount_fields{
    Field{"host_path", &GivenMount::host_path, kind::Required{kind::RuledText{absolute_path}},
          "path on the worker's machine", "required"},
    Field{"container_path", &GivenMount::container_path, kind::Required{kind::RuledText{place_of_a_mount}},
          "path for the program", "required"},
    Field{"read_only", &GivenMount::read_only, kind::Boolean{}, "the program can't write there"},
    Field{"propagation", &GivenMount::propagation, kind::MountPropagation{}, "no effect: mounts are private"},
};

/// `pai`: how the variables of Alibaba PAI are written.
struct PaiVariables {
  bool json_values_are_texts = false;  ///< In PAI_HPS; PAI's local runner writes texts.
};

inline constexpr std::tuple pai_fields{
    Field{"hps_json_values", &PaiVariables::json_values_are_texts,
          kind::OneOf<bool, 2>{{{{"typed", false}, {"string", true}}}},
          "values in `PAI_HPS`: with their types, or all as texts"},
};

}  // namespace hpsearch::jobs
