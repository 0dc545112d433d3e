#include <algorithm>
#include <array>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::jobs {

namespace {

// check_contract.cpp checks the path when an experiment is submitted.
void read_channel(Section& channels, const std::string& name, bool is_output, std::vector<Channel>& to) {
  const Value* value = channels.any(name);
  if (value == nullptr) {
    return;
  }
  Channel channel;
  channel.name = name;
  if (const std::string* path = value->as_text()) {
    channel.path = *path;
  } else if (value->as_map() != nullptr) {
    Section fields = channels.section(name);
    channel.path = fields.text("path").value_or("");
    if (const auto passed = fields.text_in("passed_as", passed_as_names)) {
      channel.passed_as = passed_as_named(*passed).value_or(PassedAs::channel);
    }
    if (is_output) {
      channel.pre_download = fields.boolean("pre_download").value_or(false);
    }
    fields.finish();
  } else {
    channels.problem(name, "is " + quoted(*value),
                     is_output ? "a path, or a map of path, passed_as and pre_download"
                               : "a path, or a map of path and passed_as");
    return;
  }
  to.push_back(std::move(channel));
}

std::vector<Channel> read_channels(Section& top, std::string_view key, bool is_output) {
  std::vector<Channel> read;
  Section channels = top.section(key);
  if (const Value* value = top.any(key); value != nullptr && value->as_map() != nullptr) {
    for (const auto& [name, path] : *value->as_map()) {
      if (name.empty()) {
        top.problem(key, "has a channel without a name", "a name for each path");
      } else {
        read_channel(channels, name, is_output, read);
      }
    }
  }
  return read;
}

}  // namespace

void read_contract(Section& top, const Space& space, JobContract& contract, Value::Map& kept) {
  static constexpr std::array<std::string_view, 2> json_values = {"typed", "string"};
  static constexpr std::array<std::string_view, 1> layouts = {"/ml"};
  static constexpr std::array<std::string_view, 2> sources = {"packed", "in_place"};
  contract.inputs = read_channels(top, "inputs", false);
  contract.outputs = read_channels(top, "outputs", true);
  Section pai = top.section("pai");
  contract.pai_hps_strings = pai.text_in("hps_json_values", json_values).value_or("typed") == "string";
  pai.finish();
  contract.in_place = top.text_in("source", sources).value_or("packed") == "in_place";
  contract.ml_layout = top.text_in("layout", layouts).has_value();
  for (const Space::Leaf& leaf : space.leaves()) {
    if (leaf.bool_style) {
      contract.bool_styles.push_back({leaf.path, *leaf.bool_style});
    }
  }
  std::sort(contract.bool_styles.begin(), contract.bool_styles.end(),
            [](const NamedBoolStyle& a, const NamedBoolStyle& b) { return a.name < b.name; });
  for (const char* key : {"inputs", "layout", "outputs", "pai", "source"}) {
    if (const Value* value = top.any(key)) {
      kept[key] = *value;
    }
  }
}

}  // namespace hpsearch::jobs
