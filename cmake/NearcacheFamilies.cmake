# nearcache::<front>_<family> and <front>_static_<family>: the newest tag of each family; every tag
# has targets of its own.
function(nearcache_name_families front)
  set(tags ${ARGN})
  list(SORT tags COMPARE NATURAL ORDER DESCENDING)
  foreach(tag IN LISTS tags)
    string(REGEX REPLACE "-.*" "" family ${tag})
    foreach(kind ${front} ${front}_static)
      if(TARGET nearcache::${kind}_${tag} AND NOT TARGET nearcache::${kind}_${family})
        # CMake cannot make an alias of an alias.
        get_target_property(target nearcache::${kind}_${tag} ALIASED_TARGET)
        if(NOT target)
          set(target nearcache::${kind}_${tag})
        endif()
        add_library(nearcache::${kind}_${family} ALIAS ${target})
      endif()
    endforeach()
  endforeach()
endfunction()
