# cmake -P: builds examples/embed the way an embedder would, and runs it.

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH_DIR})
# A copy outside of the project: nothing of it may be found by accident.
file(COPY ${SOURCE_DIR}/examples/embed DESTINATION ${SCRATCH_DIR})
set(consumer ${SCRATCH_DIR}/embed)
set(configure ${CMAKE_COMMAND} -S ${consumer} -B ${SCRATCH_DIR}/build -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${CXX_COMPILER})
if(SANITIZE)
  # Sanitized libraries can only be linked into a sanitized program.
  list(APPEND configure -D CMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()

if(WAY STREQUAL installed)
  run("installing" ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${SCRATCH_DIR}/prefix --component devel)
  file(GLOB_RECURSE installed RELATIVE ${SCRATCH_DIR}/prefix ${SCRATCH_DIR}/prefix/*)
  foreach(file IN LISTS installed)
    if(NOT file MATCHES "^(include/hpsearch/(engine|searchers|sentences)/|lib[^ ]*/(libhpsearch-|cmake/hpsearch/))")
      message(FATAL_ERROR "${file} was installed, which is no part of the package")
    endif()
  endforeach()
  run("configuring against the package" ${configure} -D CMAKE_PREFIX_PATH=${SCRATCH_DIR}/prefix
    -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
  run("building against the package" ${CMAKE_COMMAND} --build ${SCRATCH_DIR}/build)
  run("the embedded search" ${SCRATCH_DIR}/build/embed)
  if(NOT output MATCHES "best of 100 trials: loss 0\\.[0-9]+ with learning_rate 0\\.0[0-9]+ and [0-9]+ units")
    message(FATAL_ERROR "the embedded search said:\n${output}")
  endif()
  message(STATUS "${output}")
else()
  # Configuring is enough: that the libraries compile is tested everywhere else.
  file(READ ${consumer}/CMakeLists.txt text)
  string(REPLACE "find_package(hpsearch 0.1 REQUIRED)" "add_subdirectory(${SOURCE_DIR} hpsearch)" text "${text}")
  string(APPEND text "
foreach(not_ours IN ITEMS hpsearchd hpsearch-worker hpsearch-shim hpsearch engine_test)
  if(TARGET \${not_ours})
    message(FATAL_ERROR \"an embedder gets the libraries and nothing else, but here is \${not_ours}\")
  endif()
endforeach()
")
  file(WRITE ${consumer}/CMakeLists.txt "${text}")
  run("configuring as a subdirectory" ${configure})
endif()
