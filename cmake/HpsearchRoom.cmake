# One function per room of the house (docs/architecture.md): a library, its alias, its headers, its flags.

add_library(hpsearch_build_flags INTERFACE)
target_compile_options(hpsearch_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Wextra-semi
  # Of sources that are compiled as one, a variable of one may have the name of another's function.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  # Optimising, g++ 12 takes the alternatives that a std::variant does not hold for values read uninitialised.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<BOOL:${HPSEARCH_WARNINGS_AS_ERRORS}>:-Werror>)
# The same inputs give the same bits whatever the optimiser likes to contract.
add_compile_options(-ffp-contract=off)

# Programs carry only the functions that they call, although several sources are compiled as one.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(LINKER:--gc-sections)
# mold links a program in a tenth of the time. Optimising at link time stays with the compiler's own linker.
option(HPSEARCH_MOLD "Link with mold if it is installed" ${PROJECT_IS_TOP_LEVEL})
if(HPSEARCH_MOLD AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  find_program(HPSEARCH_MOLD_PROGRAM mold DOC "The linker mold")
  if(HPSEARCH_MOLD_PROGRAM)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
# What rooms that decide and store are compiled with beyond the options of all.
set(HPSEARCH_HOT_OPTIONS "" CACHE STRING "Compiler options of the rooms that decide, encode and store")

include(HpsearchHardening)
if(HPSEARCH_SANITIZE)
  add_compile_options(-fsanitize=${HPSEARCH_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HPSEARCH_SANITIZE})
  if(HPSEARCH_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# What the daemon, and the benches of what it does, allocate with. A decision makes and forgets many small things, which
# jemalloc does faster than the C library. The command line starts sooner without; sanitizers bring an allocator of their
# own.
add_library(hpsearch_allocator INTERFACE)
if(HPSEARCH_JEMALLOC AND NOT HPSEARCH_SANITIZE)
  find_path(HPSEARCH_JEMALLOC_INCLUDE_DIR jemalloc/jemalloc.h REQUIRED DOC "Where jemalloc lies (libjemalloc-dev)")
  find_library(HPSEARCH_JEMALLOC_LIBRARY jemalloc REQUIRED DOC "jemalloc (libjemalloc-dev)")
  target_include_directories(hpsearch_allocator SYSTEM INTERFACE ${HPSEARCH_JEMALLOC_INCLUDE_DIR})
  target_compile_definitions(hpsearch_allocator INTERFACE HPSEARCH_JEMALLOC)
  target_link_libraries(hpsearch_allocator INTERFACE ${HPSEARCH_JEMALLOC_LIBRARY})
endif()

# Sets <out> to those of the <headers> that no source of the room includes first. The others already compile alone where
# sources are compiled one by one, as in the preset dev, which is the one that verifies headers.
function(hpsearch_headers_to_verify out headers sources)
  set(first_included "")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
    if(first MATCHES "[<\"](.+)[>\"]")
      list(APPEND first_included include/${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_ITEM headers ${first_included})
  set(${out} ${headers} PARENT_SCOPE)
endfunction()

# hpsearch_room(<name> HEADERS … SOURCES … PUBLIC … PRIVATE … [NO_INSTALL] [HOT])
function(hpsearch_room name)
  cmake_parse_arguments(ROOM "NO_INSTALL;HOT" "" "HEADERS;SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(hpsearch_${name} ${ROOM_SOURCES})
  add_library(hpsearch::${name} ALIAS hpsearch_${name})
  hpsearch_headers_to_verify(verified "${ROOM_HEADERS}" "${ROOM_SOURCES}")
  list(REMOVE_ITEM ROOM_HEADERS ${verified})
  target_sources(hpsearch_${name} PUBLIC
    FILE_SET HEADERS BASE_DIRS include FILES ${ROOM_HEADERS}
    FILE_SET verified TYPE HEADERS BASE_DIRS include FILES ${verified})
  target_compile_features(hpsearch_${name} PUBLIC cxx_std_20)
  target_include_directories(hpsearch_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})  # Headers beside the sources.
  set_target_properties(hpsearch_${name} PROPERTIES
    EXPORT_NAME ${name} OUTPUT_NAME hpsearch-${name} INTERFACE_HEADER_SETS_TO_VERIFY verified CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(hpsearch_${name}
    PUBLIC ${ROOM_PUBLIC}
    PRIVATE ${ROOM_PRIVATE} $<BUILD_INTERFACE:hpsearch_build_flags>)
  if(ROOM_HOT)
    target_compile_options(hpsearch_${name} PRIVATE ${HPSEARCH_HOT_OPTIONS})
  endif()
  if(ROOM_NO_INSTALL)
    hpsearch_unite(hpsearch_${name} PROGRAMS)
  else()
    hpsearch_unite(hpsearch_${name} ALL)
    set_property(GLOBAL APPEND PROPERTY HPSEARCH_INSTALLED_ROOMS hpsearch_${name})
  endif()
endfunction()

# hpsearch_part(<name> SOURCES … PUBLIC … PRIVATE … [HOT]): a library of apps/, whose headers stand beside its sources.
function(hpsearch_part name)
  cmake_parse_arguments(PART "HOT" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(hpsearch_${name} STATIC ${PART_SOURCES})
  add_library(hpsearch::${name} ALIAS hpsearch_${name})
  target_compile_features(hpsearch_${name} PUBLIC cxx_std_20)
  target_include_directories(hpsearch_${name} PUBLIC ${PROJECT_SOURCE_DIR}/apps)
  set_target_properties(hpsearch_${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(hpsearch_${name} PUBLIC ${PART_PUBLIC} PRIVATE ${PART_PRIVATE} hpsearch_build_flags)
  if(PART_HOT)
    target_compile_options(hpsearch_${name} PRIVATE ${HPSEARCH_HOT_OPTIONS})
  endif()
  hpsearch_unite(hpsearch_${name} PROGRAMS)
endfunction()

# hpsearch_program(<name> SOURCES … LINK …): an installed executable.
function(hpsearch_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_link_libraries(${name} PRIVATE ${PROGRAM_LINK} hpsearch_build_flags)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(HPSEARCH_PIE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  install(TARGETS ${name} RUNTIME COMPONENT runtime)
endfunction()

# hpsearch_shared_program(<name> SOURCES … LINK …): as hpsearch_program. With HPSEARCH_STATIC it is a small program that
# starts the file of all of them (apps/programs/src/one_file.cpp).
function(hpsearch_shared_program name)
  if(HPSEARCH_STATIC)
    hpsearch_program(${name} SOURCES ${PROJECT_SOURCE_DIR}/apps/programs/src/starter.cpp)
  else()
    hpsearch_program(${name} ${ARGN})
  endif()
endfunction()

# All tests labelled `shell`, with the programs they start: what the thread sanitizer's preset builds.
add_custom_target(hpsearch_shell_tests)

# hpsearch_test(<name> SOURCES … LINK … [LABELS …] [SHARDS n]): a GoogleTest program, for CTest one test, or n for one that
# mostly waits. Not one for each TEST: a process for each of 2,500 takes longer than what they do.
function(hpsearch_test name)
  cmake_parse_arguments(TEST "" "SHARDS" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_LINK} hpsearch_messages hpsearch_build_flags GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  hpsearch_unite(${name} PROGRAMS)
  if("shell" IN_LIST TEST_LABELS)
    add_dependencies(hpsearch_shell_tests ${name})
  endif()
  if(NOT TEST_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT 900)
    return()
  endif()
  foreach(shard RANGE 1 ${TEST_SHARDS})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}_${shard} COMMAND ${name})
    set_tests_properties(${name}_${shard} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT 900
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${TEST_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
