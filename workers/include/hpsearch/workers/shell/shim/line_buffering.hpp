#pragma once

#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// Makes a program flush each line of its standard output if that is possible from
/// outside: for programs that use the C library's streams, by the library that stdbuf (coreutils) preloads
/// into them. Does nothing without that library, or if the environment has _STDBUF_O.
void buffer_by_lines(ProgramStart& program);

}  // namespace hpsearch::workers
