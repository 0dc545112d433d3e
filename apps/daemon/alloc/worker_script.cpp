#include "daemon/alloc/worker_script.hpp"

#include <algorithm>

namespace hpsearch::daemon {
namespace {

std::string seconds_text(engine::Duration duration) {
  return std::to_string(duration.in_micros() / 1'000'000);
}

}  // namespace

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + "'";
}

std::string worker_name(const engine::AllocationName& name) {
  return name.queue + "-" + std::to_string(name.number);
}

std::vector<std::string> worker_arguments(const JobOrder& order) {
  const engine::QueueSettings& settings = order.settings;
  std::vector<std::string> words{"--alloc",        engine::text_of(order.mark.name),
                                 "--slots",        settings.slots ? std::to_string(*settings.slots) : "auto",
                                 "--idle-timeout", seconds_text(settings.idle_timeout),
                                 "--time-limit",   seconds_text(settings.time_limit),
                                 "--give-back",    seconds_text(settings.give_back)};
  const auto add = [&words](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  if (!settings.pool.empty()) {
    add("--pool", settings.pool);
  }
  for (const auto& [key, value] : settings.labels) {
    add("--label", key + "=" + value);
  }
  return words;
}

std::string worker_script(const JobOrder& order, const NodeRules& rules) {
  const engine::QueueSettings& settings = order.settings;
  const std::string name = worker_name(order.mark.name);
  std::string command = (settings.wrap.empty() ? "" : settings.wrap + " ") + shell_word(order.worker);
  const auto add = [&command](const std::string& option, const std::string& word) {
    command += " \\\n  " + option + " " + word;
  };
  if (order.needs_invite) {
    command += " join " + shell_word("@" + order.directory + "/" + invite_file);
  } else {
    add("--daemon", shell_word(order.daemon));
  }
  add("--state-dir", "\"$state\"");
  add("--name", rules.index.empty() ? name : name + "-\"" + rules.index + "\"");
  if (!rules.ends_from.empty()) {
    add("--ends-from", rules.ends_from);
  }
  const std::vector<std::string> arguments = worker_arguments(order);
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    add(arguments[i], shell_word(arguments[i + 1]));
  }
  const std::string root = settings.state_root.empty() ? "${TMPDIR:-/tmp}" : settings.state_root;
  return "#!/bin/bash\n"
         "# Made by hpsearchd: one worker of allocation " +
         engine::text_of(order.mark.name) +
         ".\n"
         "trap : TERM INT USR1 USR2  # The worker gets these too, and ends by itself.\n"
         "umask 077\n" +
         (settings.before.empty() ? "" : settings.before + " || exit 1\n") + "mkdir -p \"" + root +
         "\" || exit 1\nstate=\"$(mktemp -d \"" + root + "/hpsearch-" + name + "-XXXXXX\")\" || exit 1\n" +
         command +
         " &\n"
         "worker=$!\n"
         "wait $worker\n"
         "status=$?\n"
         "while kill -0 $worker 2> /dev/null; do wait $worker; status=$?; done\n"
         "rm -rf \"$state\"\n"
         "exit $status\n";
}

}  // namespace hpsearch::daemon
