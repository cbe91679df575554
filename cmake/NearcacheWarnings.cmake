# Warnings and sanitizers for everything that we compile.
add_compile_options(-Wall -Wextra)
if(NEARCACHE_SANITIZE)
  # -O1: optimising a sanitizer's code takes longer than its tests then save.
  add_compile_options(-fsanitize=${NEARCACHE_SANITIZE} -fno-omit-frame-pointer -O1)
  if(NEARCACHE_SANITIZE MATCHES "address.*undefined")
    # These take a third of the compile time, and the address sanitizer finds most of the same
    # errors.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
    # The first finding ends the program anyway (UBSAN_OPTIONS in scripts/sanitizers.py), and code
    # that need not continue after one compiles in a fifth less time.
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  add_link_options(-fsanitize=${NEARCACHE_SANITIZE})
endif()
