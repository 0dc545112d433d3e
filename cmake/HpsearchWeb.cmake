# The daemon's pages: which files are put into the program, and how (CONTRIBUTING.md).
#
# hpsearch_page_files is a library with one symbol, hpsearch_page_files, which apps/daemon/pages reads.

set(HPSEARCH_WEB AUTO CACHE STRING
  "Pages in the daemon: ON = required, AUTO = a page about the command line if they can't be built, OFF = always that page")
set_property(CACHE HPSEARCH_WEB PROPERTY STRINGS AUTO ON OFF)
if(NOT HPSEARCH_WEB MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "HPSEARCH_WEB is \"${HPSEARCH_WEB}\"; it must be AUTO, ON or OFF")
endif()
enable_language(ASM)

# Sets <out> to the files that the pages are built from, as paths below clients/web, in the order of clients/web/build.mjs.
function(hpsearch_page_sources out)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/clients/web ${PROJECT_SOURCE_DIR}/clients/web/src/*)
  string(ASCII 1 below_all)  # A folder stands where its name does, not where its slash would.
  list(TRANSFORM files REPLACE "/" "${below_all}")
  list(SORT files)
  list(TRANSFORM files REPLACE "${below_all}" "/")
  set(${out} ${files} package-lock.json build.mjs index.html PARENT_SCOPE)
endfunction()

# Sets <out> to the digest that clients/web/build.mjs writes to SOURCES.sha256 when it builds these sources.
function(hpsearch_page_digest out sources)
  set(lines "")
  foreach(source IN LISTS sources)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/clients/web/${source})
      set(${out} "" PARENT_SCOPE)
      return()
    endif()
    file(SHA256 ${PROJECT_SOURCE_DIR}/clients/web/${source} digest)
    string(APPEND lines "${digest}  ${source}\n")
  endforeach()
  string(SHA256 digest "${lines}")
  set(${out} ${digest} PARENT_SCOPE)
endfunction()

# Sets <out> to why the pages can't be built here; "" if they can.
function(hpsearch_why_no_pages out)
  find_program(HPSEARCH_NODE node HINTS ${PROJECT_SOURCE_DIR}/build/node/bin DOC "Node.js 18 or newer, which builds the daemon's pages")
  set(why "")
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/clients/web/build.mjs)
    set(why "clients/web/build.mjs is missing")
  elseif(NOT HPSEARCH_NODE)
    set(why "node is missing: run scripts/setup pages, or install Node.js 18 or newer with npm")
  else()
    execute_process(COMMAND ${HPSEARCH_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    string(REGEX REPLACE "^v" "" version "${version}")
    if(NOT version VERSION_GREATER_EQUAL 18)
      set(why "${HPSEARCH_NODE} is version \"${version}\": run scripts/setup pages")
      unset(HPSEARCH_NODE CACHE)  # The next configuration looks again.
    elseif(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/clients/web/node_modules)
      set(why "clients/web/node_modules is missing: run scripts/setup pages")
    endif()
  endif()
  set(${out} "${why}" PARENT_SCOPE)
endfunction()

# Writes <build>/web/why_no_pages.txt, which scripts/quickstart reads; empty where the daemon has its pages.
function(hpsearch_add_page_files)
  set(web ${PROJECT_SOURCE_DIR}/clients/web)
  set(built ${PROJECT_BINARY_DIR}/web)
  set(pages ${web}/fallback)
  set(build "")
  set(depends ${web}/fallback.html ${web}/fallback.css)
  set(why "HPSEARCH_WEB is OFF")
  if(NOT HPSEARCH_WEB STREQUAL OFF)
    hpsearch_page_sources(sources)
    set(given "")
    if(EXISTS ${web}/dist/SOURCES.sha256)
      file(STRINGS ${web}/dist/SOURCES.sha256 given LIMIT_COUNT 1)
      hpsearch_page_digest(digest "${sources}")
    endif()
    hpsearch_why_no_pages(why)
    list(TRANSFORM sources PREPEND ${web}/)
    if(given AND given STREQUAL digest)
      set(why "")
      set(pages ${web}/dist)
      set(depends ${web}/dist/SOURCES.sha256)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})  # They may fit no longer.
    elseif(NOT why)
      set(pages ${built}/dist)
      set(build COMMAND ${HPSEARCH_NODE} ${web}/build.mjs --out ${built}/dist)
      set(depends ${sources})
    elseif(HPSEARCH_WEB STREQUAL ON)
      message(FATAL_ERROR "HPSEARCH_WEB is ON, but the daemon's pages can't be built: ${why}")
    else()
      message(STATUS "The daemon gets a page about the command line instead of its own pages: ${why}")
    endif()
  endif()
  file(WRITE ${built}/why_no_pages.txt "${why}")
  add_custom_command(OUTPUT ${built}/page_files.S
    ${build}
    COMMAND ${CMAKE_COMMAND} -DPAGES=${pages} -DPACKED=${built}/packed -DLISTING=${built}/page_files.S
      -P ${PROJECT_SOURCE_DIR}/cmake/HpsearchPackPages.cmake
    DEPENDS ${depends} ${PROJECT_SOURCE_DIR}/cmake/HpsearchPackPages.cmake
    COMMENT "Packing the daemon's pages" VERBATIM)
  add_library(hpsearch_page_files STATIC ${built}/page_files.S)
  if(HPSEARCH_HAS_fcf_protection_full)
    target_compile_options(hpsearch_page_files PRIVATE -fcf-protection=full)  # Or the whole program is without.
  endif()
  if(HPSEARCH_HAS_mbranch_protection_standard)
    target_compile_options(hpsearch_page_files PRIVATE -mbranch-protection=standard)
  endif()
endfunction()
hpsearch_add_page_files()
