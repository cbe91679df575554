# Warnings and sanitizers of everything we compile.
add_compile_options(-Wall -Wextra)
if(NEARCACHE_SANITIZE)
  # -O1: what a sanitizer adds takes longer to optimise than its tests then take.
  add_compile_options(-fsanitize=${NEARCACHE_SANITIZE} -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${NEARCACHE_SANITIZE})
endif()
