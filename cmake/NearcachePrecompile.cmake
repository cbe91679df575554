# For every MPI, headers of the C++ library take a third of a small source's compile time. The
# scripts therefore compile them once for all targets with the same flags; without this option, each
# source reads what it includes. Where there is memory enough, GCC then also collects garbage later,
# which takes a tenth less time and a fifth more memory: up to 1 GB for a target whose sources are
# compiled together.
#
#   nearcache_precompile(TARGET [HEADERS <header> ...] [LIBS <library> ...])
#       for targets with only C++ sources, after setting their compile options. HEADERS: precompile
#       these, whether or not the option is set. LIBS: the libraries that these headers belong to. Their
#       definitions must be known: headers compiled without them are silently not used.
option(NEARCACHE_PRECOMPILE "Compile the headers of the C++ library once for many targets" OFF)
mark_as_advanced(NEARCACHE_PRECOMPILE)
if(NEARCACHE_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
  math(EXPR enough "${cores} * 2000")
  if(memory GREATER enough)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>)  # KiB
  endif()
endif()

function(nearcache_precompile target)
  cmake_parse_arguments(arg "" "" "HEADERS;LIBS" ${ARGN})
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.c$")
  if(sources OR NOT (arg_HEADERS OR NEARCACHE_PRECOMPILE))
    return()
  endif()
  if(NOT arg_HEADERS)
    set(arg_HEADERS <algorithm> <array> <atomic> <bit> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <functional> <map> <memory>
        <mutex> <optional> <span> <string> <thread> <unordered_map> <utility> <vector>)
  endif()
  nearcache_precompiled(${target} "${arg_HEADERS}" "${arg_LIBS}" precompiled)
  # For single sources with flags of their own, these headers do not fit and are read anew.
  set_target_properties(${target} PROPERTIES PCH_WARN_INVALID OFF)
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()

# The target whose precompiled HEADERS TARGET can use: one for each set of flags, and separate ones
# for programs and libraries.
function(nearcache_precompiled target headers libraries out)
  get_target_property(options ${target} COMPILE_OPTIONS)
  if(NOT options)  # in another project, which has set none
    set(options "")
  endif()
  list(REMOVE_DUPLICATES options)
  get_target_property(type ${target} TYPE)
  set(kind library)
  if(type STREQUAL EXECUTABLE)
    set(kind program)
  endif()
  string(MD5 key "${kind} ${options} ${headers} ${libraries}")
  string(SUBSTRING ${key} 0 8 key)
  set(name precompiled.${key})
  set(${out} ${name} PARENT_SCOPE)
  if(TARGET ${name})
    return()
  endif()
  set(source ${PROJECT_BINARY_DIR}/precompiled.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
  if(kind STREQUAL program)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
  else()
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  set_target_properties(${name} PROPERTIES COMPILE_OPTIONS "${options}")
  target_link_libraries(${name} PRIVATE ${libraries})
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()
