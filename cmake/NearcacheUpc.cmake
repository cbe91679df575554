# upc.json: what upcc needs to know about each OpenSHMEM, so that it still works after the build is
# deleted.
#
#   nearcache_describe_upc(file [headers])      headers: the folder of the public headers, if that is not
#                                               <prefix>/include

function(nearcache_json_list out)
  list(TRANSFORM ARGN REPLACE "([\"\\])" "\\\\\\1")
  list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"")
  list(JOIN ARGN ", " text)
  set(${out} "[${text}]" PARENT_SCOPE)
endfunction()

function(nearcache_describe_upc file)
  set(rows "")
  foreach(tag IN LISTS NEARCACHE_SHMEM_TAGS)
    foreach(part INCLUDES DEFINES LINK)
      nearcache_json_list(${part} ${SHMEM_${tag}_${part}})
    endforeach()
    list(APPEND rows "  \"${tag}\": {\"wrapper\": \"${SHMEM_${tag}_WRAPPER}\", \"includes\": ${INCLUDES}, \"defines\": ${DEFINES}, \"link\": ${LINK}}")
  endforeach()
  list(JOIN rows ",\n" rows)
  set(headers "")
  if(ARGC GREATER 1)
    set(headers "\"headers\": \"${ARGV1}\",\n")
  endif()
  file(CONFIGURE OUTPUT ${file} CONTENT "{@headers@\"shmems\": {\n@rows@\n}}\n" @ONLY)
endfunction()
