#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/client/search_places.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;

/// The entries of the search's directory, with their sizes.
std::map<std::string, std::uint64_t> contents_of(const fs::path& directory) {
  std::map<std::string, std::uint64_t> bytes_in;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied, error),
       end;
       !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (at->is_regular_file(gone) && !at->is_symlink(gone)) {
      bytes_in[at->path().lexically_relative(directory).begin()->string()] += at->file_size(gone);
    }
  }
  return bytes_in;
}

std::string text_of(const std::map<std::string, std::uint64_t>& contents) {
  std::string text;
  for (const auto& [name, bytes] : contents) {
    text += "  " + printable(name) + std::string(name.size() < 24 ? 24 - name.size() : 1, ' ') +
            bytes_text(bytes) + "\n";
  }
  return text;
}

Value json_of(const SearchPlace& search, const std::map<std::string, std::uint64_t>& contents) {
  Value::Map files;
  for (const auto& [name, bytes] : contents) {
    files[name] = static_cast<std::int64_t>(bytes);
  }
  return Value::Map{
      {"search", search.name}, {"state_dir", search.path.string()}, {"bytes", std::move(files)}};
}

/// A search of this directory that no process uses; otherwise the reason why there is none.
Outcome<SearchPlace> unused_search(const std::string& given) {
  auto found = search_named(given);
  if (!found) {
    return found.failure();
  }
  if (!*found) {
    return not_found_failure("there is no search \"" + printable(given) +
                             "\" here; hpsearch list shows them. What a daemon holds is freed with hpsearch "
                             "checkpoints delete");
  }
  const StateDirectory state((*found)->path);
  for (const fs::path& lock : {state.lock_file(), state.daemon() / "lock"}) {
    if (const auto holder = lock_holder(lock)) {
      return conflict_failure("the search " + printable((*found)->name) + " is in use" +
                              (*holder > 0 ? " by process " + std::to_string(*holder) : std::string()) +
                              "; end it first");
    }
  }
  return *std::move(*found);
}

}  // namespace

int remove_search(const RemoveOptions& options, const Output& output) {
  const auto search = unused_search(options.search);
  if (!search) {
    return output.fail(search.failure());
  }
  const auto contents = contents_of(search->whole);
  if (options.yes) {
    std::error_code error;
    fs::remove_all(search->whole, error);
    if (error) {
      return output.fail(storage_failure("cannot delete " + search->whole.string(), error.value()));
    }
  }
  if (output.json()) {
    Value value = json_of(*search, contents);
    (*value.as_map())["deleted"] = options.yes;
    output.data(value);
    return 0;
  }
  output.print(std::string(options.yes ? "deleted " : "would delete ") + search->whole.string() + ":\n" +
               text_of(contents));
  if (!options.yes) {
    output.message("nothing was deleted; add --yes to delete it");
  }
  return 0;
}

int archive_search(const RemoveOptions& options, const Output& output) {
  const auto search = unused_search(options.search);
  if (!search) {
    return output.fail(search.failure());
  }
  const auto contents = contents_of(search->whole);
  const fs::path to = search->whole.parent_path() / "archived" / search->whole.filename();
  std::error_code error;
  if (options.yes) {
    if (fs::exists(to, error)) {
      return output.fail(conflict_failure("there is " + to.string() + " already; move it first"));
    }
    if (const auto made = make_private_directory(to.parent_path()); !made) {
      return output.fail(made.failure());
    }
    fs::rename(search->whole, to, error);
    if (error) {
      return output.fail(storage_failure("cannot move " + search->whole.string(), error.value()));
    }
  }
  if (output.json()) {
    Value value = json_of(*search, contents);
    (*value.as_map())["archived"] = options.yes;
    (*value.as_map())["to"] = to.string();
    output.data(value);
    return 0;
  }
  output.print(std::string(options.yes ? "moved " : "would move ") + search->whole.string() + " to " +
               to.string() + ":\n" + text_of(contents));
  output.message(options.yes
                     ? "hpsearch list shows it no more; --state-dir " +
                           (to / search->path.lexically_relative(search->whole)).lexically_normal().string() +
                           " reads it"
                     : std::string("nothing was moved; add --yes to move it"));
  return 0;
}

}  // namespace hpsearch::cli
