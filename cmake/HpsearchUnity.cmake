# Compiles several sources of a target as one, where their names allow it (scripts/tools/unity_groups.py): a third of the time.
#   HPSEARCH_UNITY  OFF; PROGRAMS: the programs, the tests and the rooms that are not installed; ALL: the installed rooms,
#                   too. For headers that others include, installed rooms stay as they are: at most PROGRAMS.
set(HPSEARCH_UNITY "OFF" CACHE STRING "Compile several sources as one: OFF, PROGRAMS or ALL")
set(hpsearch_unity_reach OFF PROGRAMS ALL)
if(NOT HPSEARCH_UNITY IN_LIST hpsearch_unity_reach)
  message(FATAL_ERROR "HPSEARCH_UNITY is \"${HPSEARCH_UNITY}\"; it must be OFF, PROGRAMS or ALL")
endif()
if(HPSEARCH_UNITY)
  find_program(HPSEARCH_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
endif()

# hpsearch_unite(<target> <PROGRAMS|ALL>): when HPSEARCH_UNITY goes that far. After all sources of the target were named.
function(hpsearch_unite target kind)
  list(FIND hpsearch_unity_reach ${HPSEARCH_UNITY} reach)
  list(FIND hpsearch_unity_reach ${kind} needed)
  if(reach LESS needed)
    return()
  endif()
  # Static programs would all carry OpenSSL and ZeroMQ: what initialises them goes where any source of these rooms goes.
  if(HPSEARCH_STATIC AND target MATCHES "^hpsearch_(net|worker_shell)$")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  execute_process(COMMAND ${HPSEARCH_SYSTEM_PYTHON} -B ${PROJECT_SOURCE_DIR}/scripts/tools/unity_groups.py ${sources}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  foreach(source group IN ZIP_LISTS sources groups)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
