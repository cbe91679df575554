# Finds the OpenSHMEM libraries of this machine and builds programs for each of them.
#
# One OpenSHMEM is one *tag*: oshmem-4.1.4 (Open MPI's, by the version of Open MPI), sandia-1.5,
# openshmem-1.5 (any other, by the version of the specification). For each tag SHMEM_<tag>_INCLUDES,
# _DEFINES, _LINK, _WRAPPER are set; NEARCACHE_SHMEM_TAGS holds all tags. If it is empty, there is
# no OpenSHMEM, and its front end, programs and tests are left out.
#
#   nearcache_find_shmems()
#   nearcache_shmem_program(name SOURCES a.c ... [LIBS lib ...] [STATIC])
#       -> build/bin/<tag>/<name>, target <name>.<tag>, one for every OpenSHMEM found;
#          STATIC: with libnearcache_shmem.a linked in

function(nearcache_find_shmems)
  set(NEARCACHE_SHMEM_TAGS "" PARENT_SCOPE)
  if(NEARCACHE_OSHCC STREQUAL "none")
    return()
  endif()
  set(wrappers ${NEARCACHE_OSHCC})
  if(NOT wrappers)
    file(GLOB in_deps ${PROJECT_SOURCE_DIR}/.deps/*/bin/oshcc)
    set(wrappers oshcc ${in_deps})
  endif()
  set(tags "")
  foreach(wrapper IN LISTS wrappers)
    unset(path CACHE)
    find_program(path ${wrapper})
    if(NOT path)
      if(NEARCACHE_OSHCC)
        message(FATAL_ERROR "NEARCACHE_OSHCC: there is no OpenSHMEM compile wrapper ${wrapper}")
      endif()
      continue()
    endif()
    nearcache_ask_wrapper(${path} includes defines link)
    nearcache_shmem_identify("${includes}" "${defines}" tag)
    if(NOT tag OR tag IN_LIST tags)
      continue()
    endif()
    list(APPEND tags ${tag})
    message(STATUS "OpenSHMEM ${tag}: ${path}")
    set(SHMEM_${tag}_INCLUDES "${includes}" PARENT_SCOPE)
    set(SHMEM_${tag}_DEFINES "${defines}" PARENT_SCOPE)
    set(SHMEM_${tag}_LINK "${link}" PARENT_SCOPE)
    set(SHMEM_${tag}_WRAPPER ${path} PARENT_SCOPE)
  endforeach()
  unset(path CACHE)
  if(NOT tags)
    message(STATUS "OpenSHMEM: no oshcc was found (NEARCACHE_OSHCC=/path/oshcc names one); its front end is not built")
  endif()
  set(NEARCACHE_SHMEM_TAGS ${tags} PARENT_SCOPE)
endfunction()

# The tag of the OpenSHMEM whose shmem.h is in INCLUDES, determined by the preprocessor; empty if
# there is none.
function(nearcache_shmem_identify includes defines tag_out)
  list(TRANSFORM includes PREPEND -I)
  list(TRANSFORM defines PREPEND -D)
  execute_process(COMMAND ${CMAKE_C_COMPILER} ${includes} ${defines} -E -P ${PROJECT_SOURCE_DIR}/cmake/identify_shmem.c
                  OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "nearcache_family ([a-z]+) ([^\n]*)" found "${text}")
  set(family "${CMAKE_MATCH_1}")
  string(REPLACE " " "" version "${CMAKE_MATCH_2}")
  if(text MATCHES "nearcache_vendor [^\n]*Sandia")
    set(family sandia)
  endif()
  set(tag "")
  if(found)
    set(tag ${family}-${version})
  endif()
  set(${tag_out} "${tag}" PARENT_SCOPE)
endfunction()

# Applies the compile settings of one OpenSHMEM to TARGET.
function(nearcache_use_shmem target tag)
  target_include_directories(${target} SYSTEM PRIVATE ${SHMEM_${tag}_INCLUDES})
  target_compile_definitions(${target} PRIVATE ${SHMEM_${tag}_DEFINES})
endfunction()

function(nearcache_shmem_program name)
  cmake_parse_arguments(arg "STATIC" "" "SOURCES;LIBS" ${ARGN})
  foreach(tag IN LISTS NEARCACHE_SHMEM_TAGS)
    set(target ${name}.${tag})
    add_executable(${target} ${arg_SOURCES})
    # The C files of a program may each have functions of the same names.
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    nearcache_use_shmem(${target} ${tag})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    if(arg_STATIC)
      target_link_libraries(${target} PRIVATE nearcache_shmem_static.${tag} Threads::Threads ${CMAKE_DL_LIBS})
      set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    endif()
    target_link_libraries(${target} PRIVATE ${arg_LIBS} ${SHMEM_${tag}_LINK})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/${tag})
  endforeach()
endfunction()
