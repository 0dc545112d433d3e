#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/client/answers.hpp"
#include "cli/client/trial_pages.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/results/trial_columns.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

/// Time since the last report of its running program; "" if it is not known.
std::string silence_text(const Value& trial, double now) {
  const Value& heard = member(trial, "heard_at");
  return heard.is_number() ? duration_text(now - heard.number_or(now)) : "";
}

std::string text_in_cell(const Value& trial, const std::string& name) {
  const Value value = column_value(trial, name);
  if (name == "metric" || name == "last") {
    return metric_or_dash(value);
  }
  return value.is_null() && (name == "at" || name == "failure") ? ""
         : name == "failure" ? cut_to_width(value.as_text() != nullptr ? *value.as_text() : "", 60)
                             : cell_text(value);
}

std::string upper(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return name;
}

bool is_own_name(const std::string& name) {
  const std::vector<std::string>& own = trial_names();
  return std::find(own.begin(), own.end(), name) != own.end();
}

/// Whether the trials have a value of that name; the end of its path is enough.
Outcome<engine::Done> check_name(const std::string& option, const std::string& name,
                                 const std::vector<std::string>& known) {
  const bool found = std::any_of(known.begin(), known.end(), [&name](const std::string& one) {
    return one == name || one.ends_with("." + name);
  });
  if (found) {
    return engine::Done{};
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string near(engine::nearest(name, views));
  std::string all;
  for (const std::string& one : known) {
    all += (all.empty() ? "" : ", ") + printable(one);
  }
  return usage_failure(
      option + ": there is no \"" + printable(name) + "\"" +
      (near.empty() ? " (" + cut_to_width(all, 300) + ")" : "; did you mean \"" + near + "\"?"));
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    if (comma > begin) {
      names.push_back(list.substr(begin, comma - begin));
    }
    begin = comma + 1;
  }
  return names;
}

/// The query for the selected part of the list of trials.
std::string query_of(const TrialsOptions& options, bool best_first) {
  std::string query;
  std::string where = options.where.value_or("");
  if (!where.empty() && options.after) {
    where = "(" + where + ") and trial>" + std::to_string(*options.after);
  } else if (options.after && options.sort) {
    where = "trial>" + std::to_string(*options.after);
  }
  query += where.empty() ? "" : "&where=" + net::percent_encoded(where);
  const std::string sort = options.sort.value_or(best_first ? "metric" : "");
  query += sort.empty() ? "" : "&sort=" + net::percent_encoded(sort);
  return query;
}

/// The daemon's message names its parameters; users gave options.
Failure with_option_names(Failure failure) {
  const bool is_option = failure.message.starts_with("where: ") || failure.message.starts_with("sort: ");
  return is_option ? usage_failure("--" + failure.message) : failure;
}

std::string trained_text(const Value& trial) {
  const std::uint64_t reached = count_at(trial, "reached");
  const std::uint64_t length = count_at(trial, "length");
  return std::to_string(reached) + (reached < length ? "/" + std::to_string(length) : "");
}

/// The last metric of a trial if it was NaN or infinite; "" if it was a number.
std::string nonfinite_text(const Value& trial) {
  const Value& last = member(trial, "metric");
  return last.is_null() || last.is_number() ? "" : metric_or_dash(last);
}

/// The searched hyperparameters; constants and empty columns are left out.
Table usual_table(const Value::List& list, const std::vector<std::string>& hparams, double now,
                  const Output& output) {
  using Align = Table::Align;
  const auto any = [&list](const auto& has) { return std::any_of(list.begin(), list.end(), has); };
  const bool any_retried = any([](const Value& trial) { return count_at(trial, "attempts") > 1; });
  const bool any_contact = any([](const Value& trial) { return member(trial, "heard_at").is_number(); });
  const bool any_failed = any([](const Value& trial) { return !text_at(trial, "last_failure").empty(); });
  const Table::Column state{.title = "STATE",
                            .paint = [&output](std::string_view text) { return output.paint_state(text); }};
  std::vector<Table::Column> columns{{"TRIAL", Align::right},
                                     state,
                                     {"TRAINED", Align::right},
                                     {"BEST", Align::right},
                                     {"AT", Align::right}};
  const bool any_nonfinite = any([](const Value& trial) { return !nonfinite_text(trial).empty(); });
  if (any_nonfinite) {
    columns.push_back({"LAST", Align::right});
  }
  for (const std::string& name : hparams) {
    columns.push_back({name, Align::left, true});
  }
  if (any_retried) {
    columns.push_back({"ATTEMPTS", Align::right});
  }
  if (any_contact) {
    columns.push_back({"SILENT FOR", Align::right});
  }
  if (any_failed) {
    columns.push_back({"LAST FAILURE"});
  }
  Table table(columns);
  for (const Value& trial : list) {
    std::vector<std::string> cells{std::to_string(count_at(trial, "trial")), text_at(trial, "state"),
                                   trained_text(trial), text_in_cell(trial, "metric"),
                                   text_in_cell(trial, "at")};
    if (any_nonfinite) {
      cells.push_back(nonfinite_text(trial));
    }
    for (const std::string& name : hparams) {
      cells.push_back(text_in_cell(trial, name));
    }
    if (any_retried) {
      cells.push_back(std::to_string(count_at(trial, "attempts")));
    }
    if (any_contact) {
      cells.push_back(silence_text(trial, now));
    }
    if (any_failed) {
      cells.push_back(text_in_cell(trial, "failure"));
    }
    table.add(std::move(cells));
  }
  return table;
}

Table asked_table(const Value::List& list, const std::vector<std::string>& names) {
  std::vector<Table::Column> columns;
  for (const std::string& name : names) {
    columns.push_back({is_own_name(name) ? upper(name) : name, Table::Align::left, true});
  }
  Table table(columns);
  for (const Value& trial : list) {
    std::vector<std::string> cells;
    for (const std::string& name : names) {
      cells.push_back(text_in_cell(trial, name));
    }
    table.add(std::move(cells));
  }
  return table;
}

/// Prints the table, as wide as the terminal: hyperparameters that do not fit are left out, the last ones
/// first, and named.
void print_usual(const Value::List& list, std::vector<std::string> hparams, const Output& output) {
  const double now = seconds_now();
  const std::size_t width = output.width();
  std::string left_out;
  std::string text = usual_table(list, hparams, now, output).text(width);
  const auto widest = [&text] {
    std::size_t most = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      most = std::max(most, display_width(std::string_view(text).substr(begin, end - begin)));
      begin = end + 1;
    }
    return most;
  };
  while (width > 0 && widest() > width && !hparams.empty()) {
    left_out = printable(hparams.back()) + (left_out.empty() ? "" : ", ") + left_out;
    hparams.pop_back();
    text = usual_table(list, hparams, now, output).text(width);
  }
  output.print(text);
  if (!left_out.empty()) {
    output.message("not shown for want of room: " + left_out + " (--columns names what is shown)");
  }
}

}  // namespace

int trials(const TrialsOptions& options, const Output& output) {
  const Outcome<Reached> reached = reach_experiment(options.experiment.server, options.experiment.experiment,
                                                    Server::Need::readable, output);
  if (!reached) {
    return output.fail(reached.failure());
  }
  const Client& client = reached->server.client();
  const auto get = [&client](const std::string& target) { return client.get(target); };
  Value::List list;
  const auto add = [&list](const Value& trial) { list.push_back(trial); };
  // A table without an order has the best first. If it has no limit, all trials are read by number, which
  // costs less.
  const bool best_first = !options.sort && !options.after && !output.json();
  const bool in_order = !options.sort && !options.where && !(best_first && options.limit);
  const auto next = in_order ? each_trial(get, reached->experiment, {options.after, options.limit}, add)
                             : each_chosen_trial(get, reached->experiment, query_of(options, best_first),
                                                 options.limit, add);
  if (!next) {
    return output.fail(with_option_names(next.failure()));
  }
  if (best_first && in_order) {
    const auto experiment =
        read_as<api::ExperimentSummary>(client.get(experiment_target(reached->experiment)));
    if (!experiment) {
      return output.fail(experiment.failure());
    }
    sort_best_first(list, experiment->smaller_is_better);
  }
  const std::vector<std::string> searched = searched_names(list);
  const std::vector<std::string> known = column_names(list);
  std::vector<std::string> columns;
  if (options.columns) {
    columns = names_in(*options.columns);
    for (const std::string& name : columns) {
      if (const auto there = check_name("--columns", name, known); !there && !list.empty()) {
        return output.fail(there.failure());
      }
    }
  }
  if (output.json()) {
    const Value more = *next ? Value(static_cast<std::int64_t>(**next)) : Value();
    output.data(Value::Map{{"next", more}, {"trials", std::move(list)}});
    return 0;
  }
  if (list.empty()) {
    output.print(options.where ? "no such trial\n" : options.after ? "no more trials\n" : "no trials yet\n");
  } else if (!columns.empty()) {
    output.print(asked_table(list, columns).text(output.width()));
  } else {
    print_usual(list, searched, output);
  }
  if (*next) {
    output.message("there are more: --after " + std::to_string(**next));
  }
  return 0;
}

}  // namespace hpsearch::cli
