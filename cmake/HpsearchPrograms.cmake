# hpsearch_program_sets(SOURCE): a C++ source with the programs in apps/daemon/alloc/programs/SET, so that the daemon has
# them wherever it is installed.
function(hpsearch_program_sets source)
  set(folder ${PROJECT_SOURCE_DIR}/apps/daemon/alloc/programs)
  set(text "// Made by cmake/HpsearchPrograms.cmake.\n#include \"daemon/alloc/programs.hpp\"\n\nnamespace hpsearch::daemon {\n\n"
    "const std::vector<ProgramSet>& built_in_sets() {\n  static const std::vector<ProgramSet> sets{\n")
  string(JOIN "" text ${text})
  foreach(set IN ITEMS pbs lsf gridengine ray)
    string(APPEND text "      {\"${set}\", true")
    foreach(program IN ITEMS submit status cancel)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${set}/${program})
      file(READ ${folder}/${set}/${program} content)
      string(APPEND text ",\n       R\"program(${content})program\"")
    endforeach()
    string(APPEND text "},\n")
  endforeach()
  string(APPEND text "  };\n  return sets;\n}\n\n}  // namespace hpsearch::daemon\n")
  file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
endfunction()
