// Prints the program's knowledge of experiment files as JSON.
//
//   describe_experiment           prints the fields that are declared in tables, section by section, and
//   those that
//                                 each searcher reads: the input of experiment_fields.py
//   describe_experiment --check   reads experiments as JSON, one a line, and answers each in a line: its
//   problems,
//                                 and if there are none, the experiment with every default

#include "hpsearch/engine/config/describe_experiment.hpp"

#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/jobs/fields/submission.hpp"
#include "hpsearch/jobs/patterns/pattern_check.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace {

namespace engine = hpsearch::engine;
namespace jobs = hpsearch::jobs;
using engine::Value;

Value list_of(std::span<const std::string_view> names) {
  return Value::List(names.begin(), names.end());
}

Value described(std::span<const engine::FieldDescription> fields) {
  Value::List list;
  for (const engine::FieldDescription& field : fields) {
    list.push_back(Value::Map{{"name", field.name},
                              {"meaning", field.meaning},
                              {"range", field.range},
                              {"schema", field.schema},
                              {"default", field.default_value},
                              {"default_text", field.default_text}});
  }
  return list;
}

/// `place` is the path of the section in an experiment, or the type of a checkpoint storage; `heading` stands
/// above its table on the page, "" = it has none.
Value section(std::string_view place, std::string_view heading, Value fields) {
  return Value::Map{{"place", place}, {"heading", heading}, {"fields", std::move(fields)}};
}

template <class Fields>
Value table(std::string_view place, std::string_view heading, const Fields& fields) {
  std::vector<engine::FieldDescription> list;
  engine::each_field(fields, [&list](const auto& field) { list.push_back(engine::describe_field(field)); });
  return section(place, heading, described(list));
}

Value description() {
  Value::List sections;
  for (const engine::SectionDescription& of_engine : engine::describe_experiment()) {
    sections.push_back(section(of_engine.name, of_engine.name.empty() ? "At the top" : of_engine.name,
                               described(of_engine.fields)));
  }
  for (Value& of_program : Value::List{
           table("", "At the top", jobs::program_fields),
           table("", "For the Determined harness", jobs::harness_fields),
           table("", "Without effect", jobs::foreign_sections_fields),
           table("keep_files", "", jobs::keep_files_fields),
           table("resources", "resources", jobs::program_resources_fields),
           table("environment", "environment", jobs::environment_fields),
           table("checkpoint_storage", "checkpoint_storage", jobs::storage_fields),
           table("shared_fs", "shared_fs", jobs::shared_fs_fields),
           table("s3", "s3", jobs::s3_fields),
           table("gcs", "gcs", jobs::gcs_fields),
           table("azure", "azure", jobs::azure_fields),
           table("inputs", "inputs", jobs::input_fields),
           table("outputs", "outputs", jobs::output_fields),
           table("pai", "pai", jobs::pai_fields),
           table("launch", "launch", jobs::launch_fields),
           table("launch.roles", "launch.roles", jobs::launch_roles_fields),
           table("bind_mounts", "bind_mounts", jobs::bind_mount_fields),
       }) {
    sections.push_back(std::move(of_program));
  }
  Value::List searchers;
  for (const auto& kind : hpsearch::searchers::registry()) {
    searchers.push_back(Value::Map{
        {"name", kind.name}, {"fields", list_of(kind.fields)}, {"required", list_of(kind.required)}});
  }
  return Value::Map{{"sections", std::move(sections)}, {"searchers", std::move(searchers)}};
}

Value answer(const Value& experiment) {
  jobs::ParsedExperiment parsed = jobs::parse_submission(experiment, hpsearch::searchers::registry(), "-", 0);
  for (engine::Problem& problem : hpsearch::patterns::problems_of(jobs::patterns_of(experiment))) {
    parsed.problems.push_back(std::move(problem));
  }
  Value::List problems;
  for (const engine::Problem& problem : parsed.problems) {
    problems.push_back(
        Value::Map{{"path", problem.path}, {"what", problem.what}, {"allowed", problem.allowed}});
  }
  return Value::Map{{"problems", problems},
                    {"config", problems.empty() ? engine::to_value(*parsed.config) : Value()}};
}

}  // namespace

int main(int count, const char** arguments) {
  if (count == 1) {
    std::cout << engine::compact_json(description()) << '\n';
    return 0;
  }
  if (count != 2 || std::string_view(arguments[1]) != "--check") {
    return 2;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto experiment = hpsearch::proto::parse_json(line);
    if (!experiment) {
      std::cerr << experiment.error().message << '\n';
      return 1;
    }
    std::cout << engine::compact_json(answer(*experiment)) << '\n'
              << std::flush;  // The reader waits for each line.
  }
  return 0;
}
