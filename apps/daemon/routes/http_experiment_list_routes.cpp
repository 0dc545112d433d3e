#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_pages.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/views/page_cursor.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t most_listed = 500;
constexpr std::size_t enough_listed = std::size_t{128} << 10;  // Bytes of a page.

constexpr std::string_view experiment_sorts[] = {"id",          "name",      "state",      "progress",
                                                 "best_metric", "trials",    "created_at", "ended_at",
                                                 "searcher",    "workspace", "project",    "owner"};

Value sort_key(const engine::ExperimentRecord& record, std::string_view name) {
  const auto seconds = [](engine::Instant at) { return Value(static_cast<double>(at.micros()) / 1e6); };
  if (name == "name") {
    return record.config.name;
  }
  if (name == "state") {
    return engine::name_of(record.state);
  }
  if (name == "progress") {
    return record.searcher->progress();
  }
  if (name == "best_metric") {
    return record.best ? Value(record.trials[record.best->number()].best->metric) : Value();
  }
  if (name == "trials") {
    return integer(record.trials.size());
  }
  if (name == "created_at") {
    return seconds(record.created_at);
  }
  if (name == "ended_at") {
    return engine::is_ended(record.state) ? seconds(record.ended_at) : Value();
  }
  if (name == "searcher") {
    return record.config.searcher.name;
  }
  return name == "workspace" ? Value(record.config.workspace)
         : name == "owner"   ? Value(record.owner)
         : name == "project" ? Value(record.config.project)
                             : integer(record.id.number());
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return small;
}

/// Whether the query selects archived experiments, others, or both.
bool wants(const net::HttpRequest& request, bool archived) {
  const std::string_view wanted = request.query_or("archived", "false");
  return wanted == "all" || (wanted == "true") == archived;
}

bool is_one_of(std::string_view list, std::string_view name) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, comma - begin) == name) {
      return true;
    }
    begin = comma + 1;
  }
  return false;
}

/// Whether the query of the call selects it.
bool is_asked_for(const net::HttpRequest& request, const engine::ExperimentRecord& record) {
  const engine::ExperimentConfig& config = record.config;
  const auto fits = [&request](std::string_view parameter, std::string_view value) {
    const std::string_view wanted = request.query_or(parameter, {});
    return wanted.empty() || wanted == value;
  };
  const std::string_view states = request.query_or("state", {});
  const std::string_view label = request.query_or("label", {});
  const std::string_view starred = request.query_or("starred", {});
  const std::vector<std::string>& labels = record.annotation.labels;
  if (!wants(request, record.archived) ||
      !(states.empty() || is_one_of(states, engine::name_of(record.state))) ||
      !fits("workspace", config.workspace) || !fits("project", config.project) ||
      !fits("searcher", config.searcher.name) || !fits("owner", record.owner) ||
      !(label.empty() || std::find(labels.begin(), labels.end(), label) != labels.end()) ||
      (!starred.empty() && (starred == "true") != record.annotation.starred)) {
    return false;
  }
  const std::string words = in_small_letters(request.query_or("q", {}));
  const auto has_words = [&words](std::string_view text) {
    return in_small_letters(text).find(words) != std::string::npos;
  };
  return words.empty() || has_words(config.name) || has_words(config.description) ||
         has_words(record.annotation.note) || std::any_of(labels.begin(), labels.end(), has_words);
}

/// Lists the experiments that the query selects, in its order. O(experiments · log experiments).
void list_chosen(RequestContext& request_context, const Call& call) {
  const std::string_view sort = call.request.query_or("sort", "id");
  const auto keys = views::read_sort(sort);
  if (!keys) {
    request_context.answer(call, failure(keys.error()));
    return;
  }
  for (const views::SortKey& key : *keys) {
    if (std::find(std::begin(experiment_sorts), std::end(experiment_sorts), key.name) ==
        std::end(experiment_sorts)) {
      const std::string near(engine::nearest(key.name, experiment_sorts));
      request_context.answer(
          call, failure(Error{
                    Errc::bad_request,
                    "sort: there is no \"" + key.name.substr(0, 100) + "\"" +
                        (near.empty() ? "; sort by name, created_at, progress, best_metric or another column"
                                      : "; did you mean \"" + near + "\"?")}));
      return;
    }
  }
  const std::string_view after = call.request.query_or("after", {});
  const bool by_number = call.request.query_or("sort", {}).empty();  // In this case a cursor is a number.
  const auto number = number_of(call.request, by_number ? "after" : "", 0);
  const auto cursor = !number         ? Result<views::PageCursor>(number.error())
                      : after.empty() ? Result<views::PageCursor>(views::PageCursor{})
                      : by_number ? Result<views::PageCursor>(views::PageCursor{{integer(*number)}, *number})
                                  : views::PageCursor::read(after, keys->size());
  const auto limit = number_of(call.request, "limit", most_listed);
  if (const Error* error = first_error(cursor, limit)) {
    request_context.answer(call, failure(*error));
    return;
  }
  const views::SortedPage order(*keys);
  const views::SortedPage::Entry begin{cursor->keys, cursor->number};
  std::vector<views::SortedPage::Entry> entries;
  for (const auto& [id, record] : request_context.runtime.engine().experiments()) {
    if (!may_see(call.caller, record) || !is_asked_for(call.request, record)) {
      continue;
    }
    views::SortedPage::Entry entry{{}, id.number()};
    for (const views::SortKey& key : *keys) {
      entry.keys.push_back(sort_key(record, key.name));
    }
    if (after.empty() || order.is_before(begin, entry)) {
      entries.push_back(std::move(entry));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [&order](const auto& a, const auto& b) { return order.is_before(a, b); });
  const Language language = call.language();
  std::string list;
  std::size_t shown = 0;
  for (; shown < entries.size() && shown < std::min<std::uint64_t>(*limit, most_listed) &&
         list.size() < enough_listed;
       ++shown) {
    const engine::ExperimentRecord& record =
        *request_context.runtime.engine().find(engine::ExperimentId(entries[shown].number));
    list.append(list.empty() ? "" : ",")
        .append(engine::compact_json(summary_now(request_context, record, language)));
  }
  net::HttpResponse page;
  page.body = "{\"experiments\":[" + list + "],\"next\":";
  if (shown < entries.size() && shown > 0) {
    const views::SortedPage::Entry& last = entries[shown - 1];
    page.body += by_number ? std::to_string(last.number)
                           : "\"" + views::PageCursor{last.keys, last.number}.text() + "\"";
  } else {
    page.body += "null";
  }
  page.body += "}\n";
  request_context.answer(call, std::move(page));
}

void list(RequestContext& request_context, Call call) {
  for (const char* choice :
       {"state", "workspace", "project", "label", "starred", "searcher", "owner", "q", "sort"}) {
    if (!call.request.query_or(choice, {}).empty()) {
      list_chosen(request_context, call);
      return;
    }
  }
  auto page = NumberedPage::of(call, "experiments");
  if (!page) {
    request_context.answer(call, failure(page.error()));
    return;
  }
  const auto& experiments = request_context.runtime.engine().experiments();
  auto next = experiments.upper_bound(engine::ExperimentId(page->after()));
  const auto skip_unwanted = [&] {
    while (next != experiments.end() &&
           (!wants(call.request, next->second.archived) || !may_see(call.caller, next->second))) {
      ++next;
    }
  };
  for (skip_unwanted(); next != experiments.end() && page->takes_more(); skip_unwanted()) {
    page->add(next->first.number(), summary_now(request_context, next->second, call.language()));
    ++next;
  }
  request_context.answer(call, page->answer(next != experiments.end()));
}

constexpr std::string_view archived_choices[] = {"false", "true", "all"};
constexpr std::string_view starred_choices[] = {"false", "true"};
constexpr QueryParameter experiments_query[] = {
    {"archived", QueryParameter::Kind::choice,
     "true: only those that are archived; all: these too. Without it, those that are not.", 0, 0,
     archived_choices},
    {"state", QueryParameter::Kind::text, "Only those in one of these states, with commas between."},
    {"workspace", QueryParameter::Kind::text, "Only those of this workspace."},
    {"project", QueryParameter::Kind::text, "Only those of this project."},
    {"label", QueryParameter::Kind::text, "Only those with this label."},
    {"starred", QueryParameter::Kind::choice, "true: only those with a star; false: only those without.", 0,
     0, starred_choices},
    {"searcher", QueryParameter::Kind::text, "Only those with this searcher."},
    {"owner", QueryParameter::Kind::text, "Only those of this user."},
    {"q", QueryParameter::Kind::text,
     "Only those whose name, description, labels or note have this in them."},
    {"sort", QueryParameter::Kind::text, "Names with commas between: name,-created_at."},
    after_position,
    page_limit,
};

constexpr Route experiment_list_table[] = {
    {"GET",
     "/api/v1/experiments",
     Role::viewer,
     &list,
     {"list_experiments", "experiments", "Lists experiments by number, or those that are asked for",
      api::schema_of<api::ExperimentPage>},
     experiments_query},
};

}  // namespace

std::span<const Route> experiment_list_routes() noexcept {
  return experiment_list_table;
}

}  // namespace hpsearch::daemon
