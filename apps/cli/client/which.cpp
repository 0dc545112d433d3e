#include "cli/client/which.hpp"

#include <algorithm>
#include <utility>

#include "cli/client/search_places.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// "digits/3"; a path of an experiment file has a slash too, but no number after the last one.
std::optional<std::pair<std::string, std::string>> both_in(const std::string& word) {
  const std::size_t slash = word.rfind('/');
  if (slash == std::string::npos || slash == 0 || !is_number(word.substr(slash + 1))) {
    return std::nullopt;
  }
  return std::pair(word.substr(0, slash), word.substr(slash + 1));
}

/// An experiment of that daemon, by ID or name.
Outcome<std::uint64_t> experiment_of(const Server& server, const std::optional<std::string>& given) {
  if (!given || is_number(*given)) {
    return server.experiment(given);
  }
  std::vector<std::uint64_t> ids;
  std::vector<std::string> names;
  const auto look_among = [&](const char* target) {
    const Outcome<Value> answer = server.client().get_list(target, "experiments");
    const Value::List found = answer ? list_at(*answer, "experiments") : Value::List();
    for (const Value& experiment : found) {
      names.push_back(text_at(experiment, "name"));
      if (names.back() == *given) {
        ids.push_back(count_at(experiment, "id"));
      }
    }
    return answer;
  };
  if (const auto answer = look_among("/api/v1/experiments"); !answer) {
    return answer.failure();
  }
  if (ids.empty()) {
    if (const auto answer = look_among("/api/v1/experiments?archived=true"); !answer) {
      return answer.failure();
    }
  }
  if (ids.size() == 1) {
    return ids.front();
  }
  std::string all;
  for (const std::uint64_t id : ids) {
    all += (all.empty() ? "" : ", ") + std::to_string(id);
  }
  if (!ids.empty()) {
    return usage_failure("experiments " + all + " are called \"" + printable(*given) +
                         "\"; name one by its ID");
  }
  for (const auto& searches : {searches_here(), searches_of_python()}) {
    for (const SearchPlace& one : searches) {
      names.push_back(one.name);
    }
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string near(engine::nearest(*given, known));
  return not_found_failure(
      "there is no experiment \"" + printable(*given) + "\"" +
      (near.empty() ? "; hpsearch list shows them" : "; did you mean \"" + near + "\"?"));
}

}  // namespace

bool names_checkpoint(const std::string& word) {
  const std::size_t last = word.rfind('/');
  return last != std::string::npos && word.find('-', last) != std::string::npos &&
         both_in(word.substr(0, last)).has_value();
}

Outcome<Which> read_which(const std::vector<std::string>& words, About about) {
  Which which;
  std::optional<std::string> trial;
  if (words.size() == 2) {
    which.experiment = words[0];
    trial = words[1];
  } else if (words.size() == 1) {
    if (const auto both = about == About::experiment ? std::nullopt : both_in(words[0])) {
      which.experiment = both->first;
      trial = both->second;
    } else if (about == About::trial) {
      trial = words[0];
    } else {
      which.experiment = words[0];
    }
  }
  if (trial) {
    const Outcome<std::uint64_t> number = read_number(*trial, "trial");
    if (!number) {
      return number.failure();
    }
    which.trial = *number;
  }
  return which;
}

namespace {

/// The search of the current directory with this name, if there is one.
Outcome<std::optional<ExperimentPlace>> place_here(const ServerOptions& options,
                                                   const std::optional<std::string>& experiment) {
  if (options.server || options.state_dir || !experiment || is_number(*experiment)) {
    return std::optional<ExperimentPlace>();
  }
  const auto here = search_named(*experiment);
  if (!here) {
    return here.failure();
  }
  if (!*here) {
    return std::optional<ExperimentPlace>();
  }
  const SearchPlace& search = **here;
  ExperimentPlace place{options, std::nullopt};
  place.server.state_dir = search.path.string();
  if (search.record.experiment) {
    place.experiment = std::to_string(*search.record.experiment);
  }
  return std::optional(std::move(place));
}

}  // namespace

Outcome<ExperimentPlace> place_of(const ServerOptions& options, const std::optional<std::string>& experiment,
                                  const Output& output) {
  auto here = place_here(options, experiment);
  if (!here) {
    return here.failure();
  }
  if (*here) {
    return *std::move(*here);
  }
  Outcome<ServerOptions> usual = Server::usual_or_latest(options, output);
  return usual ? Outcome<ExperimentPlace>(ExperimentPlace{*std::move(usual), experiment})
               : Outcome<ExperimentPlace>(usual.failure());
}

Outcome<Reached> reach_experiment(const ServerOptions& options, const std::optional<std::string>& experiment,
                                  Server::Need need, const Output& output, Reach reach) {
  auto here = place_here(options, experiment);
  if (!here) {
    return here.failure();
  }
  const ExperimentPlace place = *here ? *std::move(*here) : ExperimentPlace{options, experiment};
  Outcome<Server> server = reach == Reach::shared && !place.server.state_dir
                               ? Server::reach_shared(place.server, output)
                               : Server::reach(place.server, need, output);
  if (!server) {
    return server.failure();
  }
  const Outcome<std::uint64_t> id = experiment_of(*server, place.experiment);
  return id ? Outcome<Reached>(Reached{std::move(*server), *id}) : Outcome<Reached>(id.failure());
}

}  // namespace hpsearch::cli
