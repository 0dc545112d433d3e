# What an embedder gets: the rooms that are installed, one word for all of them, and find_package(hpsearch).

include(CMakePackageConfigHelpers)
get_property(hpsearch_rooms GLOBAL PROPERTY HPSEARCH_INSTALLED_ROOMS)

add_library(hpsearch_hpsearch INTERFACE)
add_library(hpsearch::hpsearch ALIAS hpsearch_hpsearch)
set_target_properties(hpsearch_hpsearch PROPERTIES EXPORT_NAME hpsearch)
target_link_libraries(hpsearch_hpsearch INTERFACE ${hpsearch_rooms})

# What every searcher promises, as tests for searchers of other projects; they bring GoogleTest. Without the property
# tests, which need rapidcheck.
set(hpsearch_contract_headers answers configurations course_trial drawn_score fault_plan judge reason_checks
  recorded_answers search_course searcher_contract trial_budget user_changes)
list(TRANSFORM hpsearch_contract_headers PREPEND ${PROJECT_SOURCE_DIR}/tests/contract/)
list(TRANSFORM hpsearch_contract_headers APPEND .hpp)
set(hpsearch_contract_dir ${CMAKE_INSTALL_INCLUDEDIR}/hpsearch/contract_kit)
add_library(hpsearch_contract_kit INTERFACE)
add_library(hpsearch::contract_kit ALIAS hpsearch_contract_kit)
set_target_properties(hpsearch_contract_kit PROPERTIES EXPORT_NAME contract_kit)
target_include_directories(hpsearch_contract_kit INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tests> $<INSTALL_INTERFACE:${hpsearch_contract_dir}>)
target_link_libraries(hpsearch_contract_kit INTERFACE hpsearch_engine)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()  # Who adds us as a subdirectory installs what they like.
endif()

set(hpsearch_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hpsearch)
install(TARGETS ${hpsearch_rooms} EXPORT hpsearch-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel
  FILE_SET verified DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
install(FILES ${hpsearch_contract_headers} DESTINATION ${hpsearch_contract_dir}/contract COMPONENT devel)
install(TARGETS hpsearch_hpsearch hpsearch_contract_kit EXPORT hpsearch-targets COMPONENT devel)
install(EXPORT hpsearch-targets NAMESPACE hpsearch:: DESTINATION ${hpsearch_package_dir} COMPONENT devel)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/hpsearch-config.cmake.in
  ${PROJECT_BINARY_DIR}/hpsearch-config.cmake INSTALL_DESTINATION ${hpsearch_package_dir}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# While we are 0.x, a new minor version may break an embedder, and says so by not being found.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hpsearch-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hpsearch-config.cmake ${PROJECT_BINARY_DIR}/hpsearch-config-version.cmake
  DESTINATION ${hpsearch_package_dir} COMPONENT devel)

if(HPSEARCH_BUILD_APPS)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/hpsearch.1 ${PROJECT_SOURCE_DIR}/docs/man/hpsearch-report.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/hpsearchd.8 ${PROJECT_SOURCE_DIR}/docs/man/hpsearch-worker.8
    ${PROJECT_SOURCE_DIR}/docs/man/hpsearch-shim.8
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT runtime)
  # For editors: docs/experiment-file.md says how they are told of it.
  install(FILES ${PROJECT_SOURCE_DIR}/docs/experiment-file.schema.json
    DESTINATION ${CMAKE_INSTALL_DATADIR}/hpsearch COMPONENT runtime)
endif()
