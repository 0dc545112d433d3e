# cmake -DPAGES=DIR -DPACKED=DIR -DLISTING=FILE.S -P HpsearchPackPages.cmake
#
# Compresses the files of PAGES into PACKED and writes the assembler file that puts them into the program, one after the
# other: 4 bytes length of the name, 4 bytes length of the content, name, content; a length of 0 ends the list. PAGES that end with "fallback" are the page fallback.html beside it. The same files give
# the same bytes.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${PACKED})
if(PAGES MATCHES "/fallback$")
  file(MAKE_DIRECTORY ${PACKED}/plain)
  file(COPY_FILE ${PAGES}.html ${PACKED}/plain/index.html)
  file(COPY_FILE ${PAGES}.css ${PACKED}/plain/fallback.css)
  set(PAGES ${PACKED}/plain)
endif()
file(GLOB_RECURSE names LIST_DIRECTORIES false RELATIVE ${PAGES} ${PAGES}/*)
list(SORT names)
list(REMOVE_ITEM names SOURCES.sha256)
if(NOT "index.html" IN_LIST names)
  message(FATAL_ERROR "${PAGES}/index.html is missing")
endif()
set(text "// Made by cmake/HpsearchPackPages.cmake.
#ifdef __CET__
#include <cet.h>
#endif
  .section .note.GNU-stack,\"\",%progbits
  .section .rodata
  .globl hpsearch_page_files
  .hidden hpsearch_page_files
hpsearch_page_files:
")
set(number 0)
foreach(name IN LISTS names)
  if(NOT name MATCHES "^[A-Za-z0-9._/-]+$")
    message(FATAL_ERROR "the page file \"${name}\" may have only letters, digits, dots, hyphens and underscores in its name")
  endif()
  get_filename_component(folder ${PACKED}/${name}.gz DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND gzip -9 -n -c ${PAGES}/${name} OUTPUT_FILE ${PACKED}/${name}.gz COMMAND_ERROR_IS_FATAL ANY)
  file(SIZE ${PACKED}/${name}.gz packed_bytes)
  string(LENGTH ${name} name_bytes)
  string(APPEND text "  .4byte ${name_bytes}, ${packed_bytes}\n  .ascii \"${name}\"\n"
    "  .incbin \"${PACKED}/${name}.gz\"\n")
endforeach()
string(APPEND text "  .4byte 0\n")
file(WRITE ${LISTING} "${text}")
