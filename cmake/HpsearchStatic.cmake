# HPSEARCH_STATIC: programs that carry the libraries they use, so that they run on distributions that have others, or none:
# what goes into the Python wheel (scripts/wheel). Shared remain the C library and libgcc_s: with its static one a program
# needs glibc 2.35, and without 2.34.
option(HPSEARCH_STATIC "Link programs with static libraries" OFF)

# Further libraries that the static ones need.
add_library(hpsearch_static_zmq INTERFACE)
add_library(hpsearch_static_archive INTERFACE)
add_library(hpsearch_static_curses INTERFACE)
add_library(hpsearch_static_cjose INTERFACE)
if(NOT HPSEARCH_STATIC)
  return()
endif()

set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
set(OPENSSL_USE_STATIC_LIBS ON)

# hpsearch_static(<target> <library>…)
function(hpsearch_static target)
  foreach(name IN LISTS ARGN)
    string(TOUPPER "HPSEARCH_STATIC_${name}" variable)
    find_library(${variable} NAMES lib${name}.a REQUIRED DOC "The static library ${name}")
    target_link_libraries(${target} INTERFACE ${${variable}})
  endforeach()
endfunction()

hpsearch_static(hpsearch_static_archive bsd md)
hpsearch_static(hpsearch_static_curses tinfo)
hpsearch_static(hpsearch_static_cjose jansson)
hpsearch_static(hpsearch_static_zmq sodium pgm norm protokit bsd md)
add_library(hpsearch_no_kerberos STATIC ${PROJECT_SOURCE_DIR}/io/zmq/no_kerberos.cpp)
target_link_libraries(hpsearch_static_zmq INTERFACE hpsearch_no_kerberos)

# The package of yaml-cpp names only its shared library.
find_package(yaml-cpp REQUIRED)
find_library(HPSEARCH_STATIC_YAML NAMES libyaml-cpp.a REQUIRED DOC "The static library yaml-cpp")
set_target_properties(yaml-cpp PROPERTIES IMPORTED_GLOBAL TRUE IMPORTED_CONFIGURATIONS STATIC
  IMPORTED_LOCATION_STATIC ${HPSEARCH_STATIC_YAML})

add_link_options(-static-libstdc++ LINKER:--gc-sections)

# Their licences go along.
foreach(package IN ITEMS libzmq3-dev libsodium-dev libcjose-dev libjansson-dev libpgm-dev libnorm-dev libbsd-dev libmd-dev libarchive-dev libssl-dev
    libsqlite3-dev zlib1g-dev libzstd-dev libre2-dev libyaml-cpp-dev libncurses-dev libjemalloc-dev libboost-dev
    cppzmq-dev nlohmann-json3-dev libmsgpack-cxx-dev libcli11-dev libeigen3-dev libstdc++-12-dev)
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION licenses RENAME ${package} COMPONENT runtime)
  else()
    message(WARNING "HPSEARCH_STATIC: the licence of ${package} isn't at /usr/share/doc/${package}/copyright")
  endif()
endforeach()
