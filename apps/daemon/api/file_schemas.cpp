#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field set_fields[] = {
    {"trial", "integer", "Number of the trial."},
    {"worker", "integer", "ID of the worker that handed them over."},
    {"attempt", "integer", "Number of the last attempt there."},
    {"files", "integer", "Number of files that the daemon has."},
    {"bytes", "integer", "Size of these files."},
    {"left", "integer", "Number of files that are on the worker only."},
    {"metric", "metric?", "The trial's best metric; null if there is none."},
};
constexpr Field set_list_fields[] = {
    {"trials", "[TrialFileSum]", "One entry for each trial and worker."},
};
constexpr Field file_fields[] = {
    {"path", "text", "Path below the program's working directory."},
    {"bytes", "integer", "Size of the file."},
    {"digest", "text", "SHA-256 of the content."},
    {"executable", "flag", "Whether the file is executable."},
    {"link", "any", "Where it leads, if it is a symbolic link."},
    {"worker", "integer", "ID of the worker that handed it over."},
};
constexpr Field other_fields[] = {
    {"path", "text", "Path below the program's working directory."},
    {"bytes", "integer", "Size of the file."},
    {"why", "text", "Why the daemon doesn't have it."},
    {"worker", "integer", "ID of the worker on which the program ran."},
};
constexpr Field list_fields[] = {
    {"files", "[KeptFile]", "The files that the daemon has."},
    {"dropped", "[OtherFile]", "Files that were deleted."},
    {"dropped_unnamed", "integer", "Number of further deleted files."},
    {"left", "[OtherFile]", "Files that are on the worker only."},
    {"left_unnamed", "integer", "Number of further files that are on the worker only."},
};
constexpr Field checkpoint_file_fields[] = {
    {"path", "text", "Path below the checkpoint's directory."},
    {"bytes", "integer", "Size of the file."},
    {"crc32c", "integer?", "CRC-32C of the content; null for a link."},
    {"link", "text?", "Where it leads; null if it is no symbolic link."},
};
constexpr Field checkpoint_fields[] = {
    {"id", "text", "ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP."},
    {"path", "text", "Directory of the checkpoint."},
    {"step", "integer", "Step of the checkpoint."},
    {"bytes", "integer", "Size of all its files."},
    {"files", "[CheckpointFile]", "All files of the checkpoint."},
};
constexpr Field context_fields[] = {
    {"context", "text", "SHA-256 of the archive."},
    {"bytes", "integer", "Size of the archive."},
};

constexpr Schema file_table[] = {
    {"TrialFileSum", "Files of a trial, summed.", set_fields},
    {"TrialFileSums", "Files of an experiment by trial.", set_list_fields},
    {"KeptFile", "A file that a program left.", file_fields},
    {"OtherFile", "A file that the daemon does not have.", other_fields},
    {"TrialFiles", "Files of a trial.", list_fields},
    {"CheckpointFile", "A file of a checkpoint.", checkpoint_file_fields},
    {"CheckpointFiles", "Files of a checkpoint.", checkpoint_fields},
    {"StoredContext", "A context that the daemon has.", context_fields},
};

}  // namespace

std::span<const Schema> file_schemas() noexcept {
  return file_table;
}

}  // namespace hpsearch::daemon
