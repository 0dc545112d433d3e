#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "daemon/api/openapi.hpp"
#include "daemon/api/parameter.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Value;

template <class Visit>
void for_each_reference(const Value& value, const Visit& visit) {
  if (const Value::Map* map = value.as_map()) {
    for (const auto& [key, member] : *map) {
      if (key == "$ref" && member.as_text() != nullptr) {
        visit(*member.as_text());
      }
      for_each_reference(member, visit);
    }
  } else if (const Value::List* list = value.as_list()) {
    for (const Value& item : *list) {
      for_each_reference(item, visit);
    }
  }
}

TEST(ApiDescription, HasAUniqueNameForEachPublicRoute) {
  std::set<std::string_view> ids;
  std::size_t described = 0;
  for (const auto& table : all_routes()) {
    for (const Route& route : table) {
      if (route.about.id.empty()) {
        EXPECT_TRUE(route.least == Role::worker || route.path == page_paths)
            << route.path << " is not described";
        continue;
      }
      ++described;
      EXPECT_TRUE(ids.insert(route.about.id).second) << route.about.id << " is the name of two routes";
      EXPECT_FALSE(route.about.tag.empty() || route.about.summary.empty()) << route.about.id;
    }
  }
  const Value description = api_description();
  std::size_t operations = 0;
  for (const auto& [path, item] : *description.at_path("paths")->as_map()) {
    operations += item.as_map()->size();
  }
  EXPECT_EQ(operations, described) << "two routes have the same path in the description";
}

TEST(ApiDescription, HasASentenceForEachField) {
  const Value description = api_description();
  for (const auto& [name, schema] : *description.at_path("components.schemas")->as_map()) {
    const Value* properties = schema.at_path("properties");
    if (properties == nullptr || name.starts_with("Quota")) {
      continue;  // Phrases of engine::quota_limits, which the help of the command line shows too.
    }
    for (const auto& [key, field] : *properties->as_map()) {
      const std::string& about = *field.at_path("description")->as_text();
      const auto words = 1 + std::count(about.begin(), about.end(), ' ');
      EXPECT_TRUE(words >= 3 && about.ends_with('.'))
          << name << "." << key << " is described as \"" << about << '"';
    }
  }
}

TEST(ApiDescription, DefinesEachSchemaThatItNames) {
  const Value description = api_description();
  std::size_t references = 0;
  for_each_reference(description, [&](const std::string& reference) {
    ++references;
    std::vector<std::string> keys;
    for (std::size_t at = 2; at < reference.size() + 1;) {
      const std::size_t end = std::min(reference.find('/', at), reference.size());
      keys.push_back(reference.substr(at, end - at));
      at = end + 1;
    }
    EXPECT_NE(description.at_keys(keys), nullptr) << reference;
  });
  EXPECT_GT(references, 50U);
}

TEST(QueryParameter, InvalidValueIsNamedWithTheAllowedOnes) {
  static constexpr std::string_view colours[] = {"red", "green", "blue"};
  static constexpr QueryParameter declared[] = {
      {"colour", QueryParameter::Kind::choice, "", 0, 0, colours},
      {"size", QueryParameter::Kind::whole_number, "", 2, 9},
  };
  const auto problem_of = [](const std::string& name, const std::string& value) {
    net::HttpRequest request;
    request.query = {{name, value}};
    const engine::Status checked = check_parameters(declared, request);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(problem_of("colour", "blue"), "");
  EXPECT_EQ(problem_of("colour", ""), "");
  EXPECT_EQ(problem_of("colour", "pink"), "colour is \"pink\"; it has to be red, green or blue");
  EXPECT_EQ(problem_of("size", "9"), "");
  EXPECT_EQ(problem_of("size", "1"), "size is 1; it must be at least 2");
  EXPECT_EQ(problem_of("size", "10"), "size is 10; it must be at most 9");
  for (const char* wrong : {"-1", "1.5", "x", "2 ", "99999999999999999999"}) {
    EXPECT_EQ(problem_of("size", wrong),
              "size is \"" + std::string(wrong) + "\"; it has to be a whole number");
  }
}

}  // namespace
}  // namespace hpsearch::daemon
