#include "cli/experiment/commented_yaml.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

constexpr std::array<std::string_view, 15> first_keys{
    "name", "description", "entrypoint",  "type",    "base",      "minval",          "maxval",  "scale",
    "step", "metric",      "environment", "metrics", "resources", "hyperparameters", "searcher"};

std::vector<std::string> keys_in_order(const Value::Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, member] : map) {
    keys.push_back(key);
  }
  const auto rank = [](const std::string& key) {
    return std::find(first_keys.begin(), first_keys.end(), key) - first_keys.begin();
  };
  std::stable_sort(keys.begin(), keys.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return keys;
}

/// A leaf or key in block style, without its line end.
std::string leaf(const Value& value) {
  std::string text = yaml_text(value);
  text.pop_back();
  return text;
}

bool is_leaf(const Value& value) {
  return value.as_map() == nullptr && value.as_list() == nullptr;
}

/// {type: log, minval: -4, maxval: -1}
std::string range_on_a_line(const Value::Map& range) {
  std::string text;
  for (const std::string& key : keys_in_order(range)) {
    const Value& member = *range.find(key);
    const bool plain = is_leaf(member) && (member.as_text() == nullptr || key == "type" || key == "scale");
    text += (text.empty() ? "{" : ", ") + key + ": " + (plain ? leaf(member) : engine::compact_json(member));
  }
  return text + "}";
}

class Writer {
 public:
  explicit Writer(const std::vector<YamlComment>& comments) : comments_(comments) {}

  std::string written(const Value::Map& experiment) {
    comment("", "");
    group(experiment, "", 0);
    return std::move(out_);
  }

 private:
  void group(const Value::Map& map, const std::string& at, std::size_t indent) {
    const std::string spaces(indent, ' ');
    for (const std::string& key : keys_in_order(map)) {
      const Value& member = *map.find(key);
      std::string path = at;
      path += (at.empty() ? "" : ".") + key;
      comment(path, spaces);
      const Value::Map* inner = member.as_map();
      out_ += spaces + leaf(Value(key)) + ":";
      if (inner != nullptr && inner->contains("type")) {
        out_ += " " + range_on_a_line(*inner) + "\n";
      } else if (inner != nullptr && !inner->empty()) {
        out_ += "\n";
        missing(*inner, path, spaces + "  ");
        group(*inner, path, indent + 2);
      } else if (inner != nullptr || member.as_list() != nullptr) {
        out_ += " " + engine::compact_json(member) + "\n";
      } else {
        out_ += " " + leaf(member) + "\n";
      }
    }
  }

  void comment(const std::string& path, const std::string& spaces) {
    for (const YamlComment& one : comments_) {
      if (one.path == path) {
        out_ += spaces + "# " + printable(one.text) + "\n";
      }
    }
  }

  /// Adds the comments on fields that a section doesn't have.
  void missing(const Value::Map& section, const std::string& at, const std::string& spaces) {
    for (const YamlComment& one : comments_) {
      const bool below =
          one.path.size() > at.size() && one.path.starts_with(at) && one.path[at.size()] == '.';
      const std::string rest = below ? one.path.substr(at.size() + 1) : "";
      if (below && rest.find('.') == std::string::npos && !section.contains(rest)) {
        out_ += spaces + "# " + printable(one.text) + "\n";
      }
    }
  }

  const std::vector<YamlComment>& comments_;
  std::string out_;
};

}  // namespace

std::string commented_yaml(const Value::Map& experiment, const std::vector<YamlComment>& comments) {
  return Writer(comments).written(experiment);
}

}  // namespace hpsearch::cli
