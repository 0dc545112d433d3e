# What the compiler and the linker can do against the exploitation of a bug, for everything that is built here:
# hpsearch_build_flags carries it, so neither installed packages nor embedders' own targets get any of it. A flag about
# which CMAKE_CXX_FLAGS, or those of the linker, say something already is left to them: packagers have their own. Each
# is left out where the compiler does not know it. tests/package/hardening_test.py looks at the programs.
set(hpsearch_hardening_default ${PROJECT_IS_TOP_LEVEL})
if(HPSEARCH_SANITIZE)
  set(hpsearch_hardening_default OFF)  # Sanitizers find more, and see less behind _FORTIFY_SOURCE.
endif()
option(HPSEARCH_HARDENING "Harden programs and libraries" ${hpsearch_hardening_default})
if(NOT HPSEARCH_HARDENING)
  return()
endif()

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

string(TOUPPER "${CMAKE_BUILD_TYPE}" hpsearch_build_type)
set(hpsearch_user_flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${hpsearch_build_type}}")
set(hpsearch_user_link_flags "${CMAKE_CXX_FLAGS} ${CMAKE_EXE_LINKER_FLAGS}")

# hpsearch_harden(<compiler flag> <regex of user flags that replace it>)
function(hpsearch_harden flag replaced_by)
  string(MAKE_C_IDENTIFIER "HPSEARCH_HAS${flag}" has)
  if(NOT hpsearch_user_flags MATCHES "${replaced_by}")
    check_cxx_compiler_flag("-Werror ${flag}" ${has})
    if(${has})
      target_compile_options(hpsearch_build_flags INTERFACE ${flag})
    endif()
  endif()
endfunction()

# hpsearch_harden_link(<linker option> <regex of user flags that replace it>)
function(hpsearch_harden_link option replaced_by)
  string(MAKE_C_IDENTIFIER "HPSEARCH_LINKS${option}" links)
  if(NOT hpsearch_user_link_flags MATCHES "${replaced_by}")
    check_linker_flag(CXX "-Wl,${option}" ${links})
    if(${links})
      target_link_options(hpsearch_build_flags INTERFACE "LINKER:${option}")
    endif()
  endif()
endfunction()

hpsearch_harden(-fstack-protector-strong "-f(no-)?stack-protector")
hpsearch_harden(-fstack-clash-protection "-f(no-)?stack-clash-protection")
# Indirect jumps land where the compiler meant them to, on processors that check it.
hpsearch_harden(-fcf-protection=full "-fcf-protection")          # x86-64
hpsearch_harden(-mbranch-protection=standard "-mbranch-protection")  # aarch64
hpsearch_harden_link(-z,relro "-z,?(no)?relro")
hpsearch_harden_link(-z,now "-z,?(now|lazy)")
hpsearch_harden_link(-z,noexecstack "-z,?(no)?execstack")

if(NOT hpsearch_user_flags MATCHES "_GLIBCXX_ASSERTIONS")
  target_compile_definitions(hpsearch_build_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()

# It needs an optimising compiler. Level 3 also knows the sizes of what is allocated; it needs g++ 12 or clang, and
# glibc 2.34.
if(hpsearch_user_flags MATCHES "-O[1-3sgz]|-Ofast" AND NOT hpsearch_user_flags MATCHES "-O0|_FORTIFY_SOURCE")
  set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("#include <cstdio>\n#if __USE_FORTIFY_LEVEL != 3\n#error\n#endif\nint main() {}"
    HPSEARCH_HAS_FORTIFY_3)
  unset(CMAKE_REQUIRED_FLAGS)
  # Compilers of some distributions define it themselves.
  target_compile_options(hpsearch_build_flags INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$<IF:$<BOOL:${HPSEARCH_HAS_FORTIFY_3}>,3,2>)
endif()

# hpsearch_program makes programs position-independent; what is linked into them has to be so too.
if(NOT hpsearch_user_flags MATCHES "-f(no-)?(pie|PIE|pic|PIC)|-(no-|static-)?pie")
  check_pie_supported(LANGUAGES CXX)
  target_compile_options(hpsearch_build_flags INTERFACE
    $<$<NOT:$<OR:$<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>,$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>>>:-fPIE>)
  set(HPSEARCH_PIE ON)
endif()
