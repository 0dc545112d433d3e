#include <CLI/CLI.hpp>
#include <string>

#include "cli/verbs/argument_checks.hpp"
#include "cli/verbs/verb_groups.hpp"

namespace hpsearch::cli {

void add_checkpoint_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("checkpoints", "List, download and delete checkpoints");
  group.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* about,
                            int (*verb)(const CheckpointOptions&, const Output&)) -> CLI::App& {
    CLI::App& added = build.add_to(group, name, about, [&build, verb](const Output& output) {
      build.given.checkpoint.server = build.given.server;
      if (!build.given.checkpoint_word.empty()) {
        build.given.checkpoint.which = {build.given.checkpoint_word};
      }
      return verb(build.given.checkpoint, output);
    });
    build.add_server(added);
    return added;
  };
  CheckpointOptions& given = build.given.checkpoint;
  add_verb("list", "List checkpoints", list_checkpoints)
      .add_option("EXPERIMENT", given.which,
                  std::string(about_experiment) + ";\nthen a TRIAL's number, to list only its")
      ->expected(0, 2);
  CLI::App& download = add_verb("download", "Copy a checkpoint and check every file", download_checkpoint);
  download.add_option("CHECKPOINT", build.given.checkpoint_word, "Its ID, or its TRIAL, or EXPERIMENT/TRIAL")
      ->required();
  download.add_option("--step", given.step, "Step of the checkpoint (default: the best, or else the latest)")
      ->transform(integer_from(0));
  download.add_flag("--latest", given.latest, "Download the latest checkpoint");
  download.add_option("DIR,--to", given.to, "Directory to create")->required()->check(not_empty());
  CLI::App& remove = add_verb("delete", "Delete checkpoints of a trial", delete_checkpoints);
  remove.add_option("CHECKPOINT", build.given.checkpoint_word, "Its ID, or its TRIAL, or EXPERIMENT/TRIAL")
      ->required();
  CLI::Option* step =
      remove.add_option("--step", given.step, "Step of the checkpoint")->transform(integer_from(0));
  remove.add_flag("--all", given.all, "Delete all checkpoints of the trial")->excludes(step);
}

void add_files_verbs(VerbBuilder& build) {
  CLI::App& group =
      build.add_family("files", "List the files that programs left in their working directories; copy them");
  build.add_output(group);
  FilesOptions& given = build.given.files;
  group.add_option("WHICH", given.which, "Experiment; with a trial, every file of it")->expected(0, 2);
  build.add_server(group);
  group.callback([&build, &group] {
    if (group.get_subcommands().empty()) {  // CLI11 calls it after those of get and path.
      build.action = [&build](const Output& output) {
        build.given.files.server = build.given.server;
        return list_files(build.given.files, output);
      };
    }
  });
  using Take = FilesOptions::Take;
  const auto add_verb = [&](const char* name, const char* about, Take take, const char* words) {
    const bool has_place = take != Take::path;
    CLI::App& verb = build.add_to(group, name, about, [&build, take](const Output& output) {
      build.given.files.server = build.given.server;
      build.given.files.take = take;
      return take_files(build.given.files, output);
    });
    verb.add_option("TRIAL", given.which, words)->required()->expected(has_place ? 2 : 1, has_place ? 3 : 2);
    build.add_server(verb);
  };
  add_verb("get", "Copy the files of a trial to a new directory", Take::directory,
           "[EXPERIMENT] TRIAL, and the directory to create");
  add_verb("tar", "Save the files of a trial as a tar archive, each attempt in a directory of its own",
           Take::archive, "[EXPERIMENT] TRIAL, and the file to create");
  add_verb("path", "Print the directory with the files of a trial", Take::path,
           "[EXPERIMENT] TRIAL; EXPERIMENT may be left out while there is only one");
}

}  // namespace hpsearch::cli
