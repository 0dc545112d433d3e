#include "cli/client/search_places.hpp"

#include <algorithm>
#include <utility>

#include "cli/render/text.hpp"
#include "hpsearch/io/files/state_home.hpp"

namespace hpsearch::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view moved_aside = ".old-";

fs::path whole(const fs::path& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal();
}

}  // namespace

std::vector<SearchPlace> searches_here() {
  std::vector<SearchPlace> found;
  const auto home = files::StateHome::of_environment();
  if (!home) {
    return found;
  }
  std::error_code error;
  const fs::path here = fs::current_path(error);
  for (fs::directory_iterator at(home->path(), error), end; !error && at != end; at.increment(error)) {
    const std::string entry = at->path().filename().string();
    if (!home->may_be_of(entry, here)) {
      continue;
    }
    std::error_code missing;
    const StateDirectory state(whole(at->path()));
    const auto used = fs::last_write_time(state.run_file(), missing);
    if (missing) {
      continue;
    }
    const auto record = load_run_record(state);
    if (record && *record) {
      found.push_back({state.path(), home->name_of_run(entry, here), **record, used, state.path()});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const SearchPlace& a, const SearchPlace& b) { return a.name < b.name; });
  return found;
}

std::vector<SearchPlace> searches_of_python() {
  std::vector<SearchPlace> found;
  const fs::path home = files::StateHome::of_python();
  if (home.empty()) {
    return found;
  }
  const std::vector<SearchPlace> here = searches_here();
  std::error_code error;
  for (fs::directory_iterator at(home, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_symlink(ignored) || !at->is_directory(ignored)) {
      continue;
    }
    const fs::path path = at->path();
    const StateDirectory of_run(path / "search");
    const StateDirectory of_daemon(path);
    const auto record = load_run_record(of_run);
    const bool is_run = record && *record;
    if (!is_run && (fs::exists(of_daemon.run_file(), ignored) || !of_daemon.has_store())) {
      continue;  // It is of `hpsearch run`, or of something else.
    }
    SearchPlace place{is_run ? of_run.path() : path, path.filename().string(),
                      is_run ? **record : RunRecord(),
                      fs::last_write_time(is_run ? of_run.run_file() : path, ignored), path};
    if (std::any_of(here.begin(), here.end(),
                    [&place](const SearchPlace& one) { return one.name == place.name; })) {
      place.name = path.string();
    }
    found.push_back(std::move(place));
  }
  std::sort(found.begin(), found.end(),
            [](const SearchPlace& a, const SearchPlace& b) { return a.name < b.name; });
  return found;
}

std::optional<fs::path> forbidden_place() {
  const auto home = files::StateHome::of_environment();
  if (!home) {
    return std::nullopt;
  }
  std::error_code error;
  const fs::path here = fs::current_path(error);
  fs::directory_iterator at(home->path(), error);
  if (error == std::errc::permission_denied) {
    return whole(home->path());
  }
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code refused;
    const StateDirectory state(whole(at->path()));
    static_cast<void>(fs::last_write_time(state.run_file(), refused));
    if (refused == std::errc::permission_denied && home->may_be_of(at->path().filename().string(), here)) {
      return state.path();
    }
  }
  return std::nullopt;
}

std::optional<SearchPlace> latest_search() {
  std::vector<SearchPlace> all = searches_here();
  const auto latest = std::max_element(
      all.begin(), all.end(), [](const SearchPlace& a, const SearchPlace& b) { return a.used < b.used; });
  return latest == all.end() ? std::nullopt : std::optional(std::move(*latest));
}

Outcome<std::optional<SearchPlace>> search_named(std::string_view given) {
  std::vector<SearchPlace> all = searches_here();
  const auto take = [&all](const auto& is_meant) {
    std::vector<SearchPlace> meant;
    std::copy_if(all.begin(), all.end(), std::back_inserter(meant), is_meant);
    return meant;
  };
  std::vector<SearchPlace> meant = take([&](const SearchPlace& one) { return one.name == given; });
  if (meant.empty()) {
    const fs::path file = whole(fs::path(given));
    meant = take([&](const SearchPlace& one) {
      return is_search_of(one.record, file, one.path) && one.name.find(moved_aside) == std::string::npos;
    });
  }
  if (meant.empty()) {
    meant = take([&](const SearchPlace& one) {
      return (one.record.name ? *one.record.name : text_at(one.record.config, "name")) == given &&
             one.name.find(moved_aside) == std::string::npos;
    });
  }
  if (meant.empty()) {
    all = searches_of_python();
    meant = take([&](const SearchPlace& one) { return one.name == given || one.whole == fs::path(given); });
  }
  if (meant.size() > 1) {
    std::string names;
    for (const SearchPlace& one : meant) {
      names += (names.empty() ? "" : ", ") + printable(one.name);
    }
    return usage_failure("\"" + printable(given) + "\" may be " + names + "; name one of these");
  }
  return meant.empty() ? std::optional<SearchPlace>() : std::optional(std::move(meant.front()));
}

bool is_search_of(const RunRecord& record, const fs::path& file, const fs::path& state) {
  if (record.file == "-" || file == "-") {
    return file == record.file;
  }
  if (record.file == file) {
    return true;
  }
  return !record.state_directory.empty() &&
         fs::path(record.file).lexically_relative(record.state_directory) == file.lexically_relative(state);
}

Outcome<fs::path> state_directory_of(const std::string& stem, const fs::path& file) {
  const auto home = files::StateHome::of_environment();
  if (!home) {
    return usage_failure(home.error().message);
  }
  std::optional<SearchPlace> known;
  for (SearchPlace& one : searches_here()) {
    const bool its =
        is_search_of(one.record, file, one.path) && one.name.find(moved_aside) == std::string::npos;
    if (its && (!known || known->used < one.used)) {
      known = std::move(one);
    }
  }
  if (known) {
    return known->path;
  }
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  const std::string parent = file == "-" ? "" : file.parent_path().filename().string();
  for (int number = 0;; ++number) {
    const std::string name =
        number == 0   ? stem
        : number == 1 ? (parent.empty() ? stem : parent + "-" + stem)
                      : (parent.empty() ? stem : parent + "-" + stem) + "-" + std::to_string(number);
    const StateDirectory state(whole(home->run(name, here)));
    const auto record = load_run_record(state);
    const bool free = record && !*record && state.path() != whole(home->daemon());
    // The run reports an unreadable record.
    if (free || !record) {
      return state.path();
    }
  }
}

}  // namespace hpsearch::cli
