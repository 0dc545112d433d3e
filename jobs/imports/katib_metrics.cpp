#include "imports/katib_metrics.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "fields/sections.hpp"
#include "imports/regex_groups.hpp"

namespace hpsearch::jobs {
namespace {

/// A name of a metric, of which no longer name is a match.
std::string whole_name(std::string_view metric) {
  return R"((?:^|[^\w|-]))" + matching_exactly(metric);
}

std::string printed_as_text(std::string_view metric) {
  return whole_name(metric) + R"(\s*=\s*{number})";
}

std::string printed_as_json(std::string_view metric) {
  return "\"" + matching_exactly(metric) + R"("\s*:\s*"?{number})";
}

/// A format of Katib has a group for the name and a group for the number. Nothing if it has other groups.
std::optional<std::string> printed_as(const std::string& format, std::string_view metric) {
  const std::vector<RegexGroup> groups = capture_groups(format);
  if (groups.size() < 2 || groups[1].begin < groups[0].end) {
    return std::nullopt;
  }
  const std::string before = format.substr(0, groups[0].begin);
  return before + (before.empty() ? whole_name(metric) : matching_exactly(metric)) +
         format.substr(groups[0].end, groups[1].begin - groups[0].end) + "{number}" +
         format.substr(groups[1].end);
}

/// The first of the formats; "" if there is none.
std::string format_of(const Value& source, Draft& draft) {
  const Value::List* formats = member_of(member_of(source, "filter"), "metricsFormat").as_list();
  if (formats == nullptr || formats->empty()) {
    return "";
  }
  if (formats->size() > 1) {
    draft.decide("metrics", "of " + std::to_string(formats->size()) +
                                " metricsFormat only the first is read; a metric has one pattern here");
  }
  return python_text(formats->front());
}

}  // namespace

void read_katib_metrics(const Value& collector, const std::vector<std::string>& metrics, Draft& draft) {
  const std::string given = text_member(member_of(collector, "collector"), "kind");
  const std::string kind = given.empty() ? "StdOut" : given;
  const Value& source = member_of(collector, "source");
  const Value& file = member_of(source, "fileSystemPath");
  if (kind == "Push" || kind == "None") {
    draft.decide("searcher.metric", "the program sends it to Katib; call hpsearch.report(step, " +
                                        metrics.front() + "=…) instead");
    return;
  }
  const std::string format = format_of(source, draft);
  const bool is_json = text_member(file, "format") == "JSON";
  Value::Map patterns;
  for (const std::string& metric : metrics) {
    std::optional<std::string> pattern = is_json ? printed_as_json(metric) : printed_as_text(metric);
    if (!format.empty()) {
      pattern = printed_as(format, metric);
    }
    if (!pattern) {
      draft.refuse("spec.metricsCollectorSpec.source.filter.metricsFormat[0]", "is " + quoted(Value(format)),
                   "a regular expression with a group for the metric's name and one for its number");
      return;
    }
    patterns[metric] = *std::move(pattern);
  }
  draft.set("metrics", std::move(patterns));
  if (kind == "StdOut") {
    draft.decide("metrics", "what the program prints; a step is one such line");
  } else if (kind == "File") {
    const std::string path = text_member(file, "path");
    draft.decide("metrics", "the file collects from " + (path.empty() ? "/var/log/katib/metrics.log" : path) +
                                "; print these lines instead, for example to /dev/stdout");
  } else {
    draft.decide("metrics", "the file collects by " + kind +
                                "; print NAME=VALUE, or call hpsearch.report() and remove this section");
  }
}

}  // namespace hpsearch::jobs
