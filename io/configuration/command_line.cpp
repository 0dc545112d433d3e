#include "hpsearch/io/configuration/command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

namespace hpsearch::configuration {
namespace {

using Kind = Take::Kind;

/// "How long … (default: 300) [workers.lost_after]"
std::string help_of(const Option& option) {
  return option.meaning + (option.usual.empty() ? "" : " (default: " + option.usual + ")") + " [" +
         option.key + "]";
}

CLI::Option* add(CLI::App& app, const Option& option) {
  if (option.take.kind == Kind::on_off) {
    return app.add_flag(option.flag)->description(help_of(option));
  }
  CLI::Option* added = app.add_option(option.flag)->description(help_of(option))->type_name(option.value);
  if (option.take.kind != Kind::list) {
    return added->option_text(option.value);
  }
  // One value for each time that the flag is there: it must not take the words behind it.
  return added->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text(option.value + " ...");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

}  // namespace

Flags::Flags(CLI::App& app, const Program& program) : program_(program.name) {
  for (const Option& option : program.options) {
    CLI::Option* added = add(app, option);
    if (!option.group.empty()) {
      added->group(option.group);
    }
    of_options_.emplace_back(option.key, added);
  }
  const std::string group = "Configuration";
  file_ = app.add_option("--config")
              ->description(
                  "Configuration file, in YAML; FILE.d/*.yaml are read after it (default: " + program.name +
                  ".yaml in $CONFIGURATION_DIRECTORY, for root in /etc/hpsearch, else in "
                  "$XDG_CONFIG_HOME/hpsearch or ~/.config/hpsearch). Variables such as " +
                  program.variable_of(program.options.front()) + " override it, and flags override both")
              ->type_name("FILE")
              ->group(group);
  alone_ = app.add_flag("--no-config")
               ->description("Use flags only: neither configuration files nor variables")
               ->group(group)
               ->excludes(file_);
  check_ = app.add_flag("--check-config")
               ->description("Print all problems of the configuration, and exit with 0 or 2")
               ->group(group);
  print_ = app.add_flag("--print-config")
               ->description("Print the value of each option and where it is from, and exit")
               ->group(group)
               ->excludes(check_);
  describe_ = app.add_flag("--describe-config")
                  ->description("Print all keys of the configuration as a table in Markdown, and exit")
                  ->group(group);
}

CommandLine Flags::taken() const {
  CommandLine line;
  for (const auto& [key, option] : of_options_) {
    if (option->count() > 0) {
      line.flags[key] = option->results();
    }
  }
  if (file_->count() > 0) {
    line.file = file_->results().front();
  }
  line.usual = usual_file(program_).string();
  line.alone = alone_->count() > 0;
  line.wish = describe_->count() > 0 ? CommandLine::Wish::describe
              : check_->count() > 0  ? CommandLine::Wish::check
              : print_->count() > 0  ? CommandLine::Wish::print
                                     : CommandLine::Wish::run;
  return line;
}

std::variant<Reading, int> settle(const Program& program, const CommandLine& line,
                                  const Conflicts& conflicts) {
  if (line.wish == CommandLine::Wish::describe) {
    std::cout << describe(program) << std::flush;
    return 0;
  }
  Reading reading = read(program, line);
  for (std::string& problem : store(program, reading.values)) {
    reading.problems.push_back(std::move(problem));
  }
  if (reading.problems.empty() && conflicts) {
    for (const engine::Problem& problem : conflicts()) {
      reading.problems.push_back(sentence(program, reading.values, problem));
    }
  }
  for (const std::string& problem : reading.problems) {
    std::cerr << program.name << ": " << problem << "\n";
  }
  std::cerr << std::flush;
  constexpr int exit_usage = 2;
  return reading.problems.empty() ? std::variant<Reading, int>(std::move(reading)) : exit_usage;
}

bool answers(const Program& program, const CommandLine& line, const Reading& reading) {
  switch (line.wish) {
    case CommandLine::Wish::check:
      std::cout << program.name << ": the configuration has no problems ("
                << (reading.files.empty() ? "there is no file" : joined(reading.files)) << ")" << std::endl;
      return true;
    case CommandLine::Wish::print:
      std::cout << printed(program, reading.values) << std::flush;
      return true;
    case CommandLine::Wish::describe:
    case CommandLine::Wish::run:
      break;
  }
  return false;
}

}  // namespace hpsearch::configuration
