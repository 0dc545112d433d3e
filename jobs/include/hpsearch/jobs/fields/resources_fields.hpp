#pragma once

#include <string_view>
#include <tuple>

#include "hpsearch/jobs/fields/field_kinds.hpp"

// `resources`: the fields that the engine doesn't read.

namespace hpsearch::jobs {

namespace kind {

/// Bytes, or a size as Docker reads it.
struct MemorySize {
  [[nodiscard]] std::optional<Value> read(Section& section, std::string_view key) const;
  [[nodiscard]] std::string range() const { return "bytes, or a text such as `128M` or `1.5G`"; }
  [[nodiscard]] Value schema() const;
};

struct Devices {
  [[nodiscard]] std::optional<Value::List> read(Section& section, std::string_view key) const;
  [[nodiscard]] std::string range() const { return "list of maps or texts"; }
  [[nodiscard]] Value schema() const {
    return Value::Map{{"type", "array"}, {"items", Value::Map{{"type", Value::List{"object", "string"}}}}};
  }
};

}  // namespace kind

/// The fields of `resources` that describe the program.
struct ProgramResources {
  bool is_single_node = false;  ///< Never runs on several workers, even if `launch` is set.
  Value shm_size;               ///< This and the following fields have no effect; they are kept as written.
  Value devices;
  Value native_parallel;
  Value agent_label;
};

inline constexpr std::tuple program_resources_fields{
    Field{"is_single_node", &ProgramResources::is_single_node, kind::Boolean{},
          "a trial never uses several workers, regardless of `launch`"},
    Field{"shm_size", &ProgramResources::shm_size,
          kind::AsWritten{
              kind::MemorySize{},
              "has no effect here: programs have the machine's own shared memory, in containers too"},
          "no effect"},
    Field{"devices", &ProgramResources::devices,
          kind::AsWritten{kind::Devices{}, "has no effect here: programs have the devices of their slots"},
          "no effect"},
    Field{"native_parallel", &ProgramResources::native_parallel,
          kind::AsWritten{kind::Boolean{}, "has no effect here"}, "no effect"},
    Field{
        "agent_label", &ProgramResources::agent_label,
        kind::AsWritten{kind::Text{}, "has no effect here: resources.labels chooses workers by their labels"},
        "no effect; `labels` chooses workers"},
};

}  // namespace hpsearch::jobs
