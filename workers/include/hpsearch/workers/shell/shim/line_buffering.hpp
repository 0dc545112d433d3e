#pragma once

#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// Makes a program of this machine write each line of its standard output at once where it can be done from
/// outside: programs that use the C library's streams, by the library that stdbuf (coreutils) loads into
/// them. Does nothing without that library, or if the environment has _STDBUF_O.
void buffer_by_lines(ProgramStart& program);

}  // namespace hpsearch::workers
