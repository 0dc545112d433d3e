#include <algorithm>
#include <utility>

#include "cli/client/client.hpp"
#include "cli/client/saved_daemons.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

bool is_name(const std::string& name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= 64 && name.find_first_not_of(allowed) == std::string::npos;
}

Failure no_such_context(const std::string& name) {
  return not_found_failure("there is no context \"" + printable(name) +
                           "\"; hpsearch context list shows them");
}

int saved(const SavedDaemons& all, const std::string& said, const Output& output) {
  if (const auto done = save(all); !done) {
    return output.fail(done.failure());
  }
  if (output.json()) {
    output.data(Value::Map{{"current", all.current}});
  } else {
    output.print(said + "\n");
  }
  return 0;
}

}  // namespace

int context_add(const ContextOptions& options, const Output& output) {
  if (!is_name(options.name)) {
    return output.fail(usage_failure("NAME is \"" + printable(options.name) +
                                     "\"; it must be 1 to 64 letters, digits, '.', '_' and '-'"));
  }
  if (!is_server_address(options.address)) {
    return output.fail(usage_failure("ADDRESS is \"" + printable(options.address) +
                                     "\"; it must be unix:///PATH, HOST:PORT or https://HOST:PORT"));
  }
  std::string address = options.address;
  if (options.fingerprint) {
    if (!is_fingerprint(*options.fingerprint) || !address.starts_with("https://") ||
        address.find('#') != std::string::npos) {
      return output.fail(
          usage_failure("--fingerprint is \"" + printable(*options.fingerprint) +
                        "\"; it must be 64 digits of lower case hexadecimal, for an https:// address"));
    }
    address += "#" + *options.fingerprint;
  }
  auto all = load_saved_daemons();
  if (!all) {
    return output.fail(all.failure());
  }
  SavedDaemon added{options.name, std::move(address), ""};
  if (options.token_file) {
    const auto token = read_token_file(*options.token_file);
    if (!token) {
      return output.fail(token.failure());
    }
    added.token = *token;
  }
  std::erase_if(all->daemons, [&](const SavedDaemon& one) { return one.name == options.name; });
  all->daemons.push_back(std::move(added));
  if (all->current.empty()) {
    all->current = options.name;
  }
  return saved(
      *all,
      "context " + options.name +
          (all->current == options.name ? " is used from now on"
                                        : " added; use it with: hpsearch context use " + options.name),
      output);
}

int context_use(const ContextOptions& options, const Output& output) {
  auto all = load_saved_daemons();
  if (!all) {
    return output.fail(all.failure());
  }
  if (all->find(options.name) == nullptr) {
    return output.fail(no_such_context(options.name));
  }
  all->current = options.name;
  return saved(*all, "context " + options.name + " is used from now on", output);
}

int context_remove(const ContextOptions& options, const Output& output) {
  auto all = load_saved_daemons();
  if (!all) {
    return output.fail(all.failure());
  }
  if (all->find(options.name) == nullptr) {
    return output.fail(no_such_context(options.name));
  }
  std::erase_if(all->daemons, [&](const SavedDaemon& one) { return one.name == options.name; });
  if (all->current == options.name) {
    all->current.clear();
  }
  return saved(*all, "context " + options.name + " removed", output);
}

int context_list(const Output& output) {
  const auto all = load_saved_daemons();
  if (!all) {
    return output.fail(all.failure());
  }
  if (output.json()) {
    Value::List list;
    for (const SavedDaemon& one : all->daemons) {
      list.emplace_back(Value::Map{{"name", one.name},
                                   {"server", one.server},
                                   {"current", one.name == all->current},
                                   {"has_token", !one.token.empty()}});
    }
    output.data(Value::Map{{"contexts", std::move(list)}});
    return 0;
  }
  Table table({{"CURRENT"}, {"NAME"}, {"SERVER"}, {"TOKEN"}});
  for (const SavedDaemon& one : all->daemons) {
    table.add({one.name == all->current ? "*" : "", one.name, one.server, one.token.empty() ? "no" : "yes"});
  }
  output.print(table.empty() ? std::string("no contexts yet\n") : table.text(output.width()));
  return 0;
}

}  // namespace hpsearch::cli
