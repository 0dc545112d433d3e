#pragma once

#include <string>

namespace hpsearch::engine {

// A submission as its user wrote it, beside the effective configuration. Nothing of it changes a decision.

/// The experiment file, without its secrets.
struct SubmittedFile {
  std::string name;  ///< As its user named it; "" = it has none.
  std::string text;

  static void list_fields(auto& fields, auto& self) {  // As events list theirs (events.hpp).
    fields.maybe("name", self.name);
    fields("text", self.text);
  }
};

/// The Git checkout that the context directory was part of, at the time of the submission.
struct GitState {
  std::string commit;  ///< In hexadecimal: 40 or 64 digits.
  std::string branch;  ///< "" = the commit was checked out without a branch.
  bool dirty = false;  ///< The directory had changes that no commit has, or new files.

  static void list_fields(auto& fields, auto& self) {
    fields("commit", self.commit);
    fields.maybe("branch", self.branch);
    fields.maybe("dirty", self.dirty);
  }
};

}  // namespace hpsearch::engine
