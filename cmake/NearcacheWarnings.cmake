# Warnings and sanitizers of everything we compile.
add_compile_options(-Wall -Wextra)
if(NEARCACHE_SANITIZE)
  # -O1: what a sanitizer adds takes longer to optimise than its tests then take.
  add_compile_options(-fsanitize=${NEARCACHE_SANITIZE} -fno-omit-frame-pointer -O1)
  if(NEARCACHE_SANITIZE MATCHES "address.*undefined")
    # A third of the compiler's time, for what mostly is the address sanitizer's finding as well.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
    # The first finding ends the program anyway (UBSAN_OPTIONS in scripts/run_tests.py), and code that need not go on after one compiles in a
    # fifth less time.
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  add_link_options(-fsanitize=${NEARCACHE_SANITIZE})
endif()
