#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field set_fields[] = {
    {"trial", "integer"}, {"worker", "integer"}, {"attempt", "integer"}, {"files", "integer"},
    {"bytes", "integer"}, {"left", "integer"},   {"metric", "metric?"},
};
constexpr Field set_list_fields[] = {{"trials", "[TrialFileSum]"}};
constexpr Field file_fields[] = {
    {"path", "text"},       {"bytes", "integer"}, {"digest", "text"},
    {"executable", "flag"}, {"link", "any"},      {"worker", "integer"},
};
constexpr Field other_fields[] = {
    {"path", "text"}, {"bytes", "integer"}, {"why", "text"}, {"worker", "integer"}};
constexpr Field list_fields[] = {
    {"files", "[KeptFile]"},        {"dropped", "[OtherFile]", "Deleted files."},
    {"dropped_unnamed", "integer"}, {"left", "[OtherFile]", "Files that are on the worker only."},
    {"left_unnamed", "integer"},
};
constexpr Field checkpoint_file_fields[] = {
    {"path", "text", "Below the checkpoint's directory."},
    {"bytes", "integer"},
    {"crc32c", "integer?", "Null for a link."},
    {"link", "text?", "Where it leads, if it is a symbolic link."},
};
constexpr Field checkpoint_fields[] = {
    {"id", "text", "EXPERIMENT/TRIAL/ATTEMPT-STEP."},
    {"path", "text", "Its directory."},
    {"step", "integer"},
    {"bytes", "integer", "Of all files."},
    {"files", "[CheckpointFile]"},
};
constexpr Field context_fields[] = {{"context", "text", "SHA-256 of the archive."}, {"bytes", "integer"}};

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
