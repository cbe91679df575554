# Warnings and sanitizers of everything we compile.
add_compile_options(-Wall -Wextra)
if(NEARCACHE_SANITIZE)
  add_compile_options(-fsanitize=${NEARCACHE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${NEARCACHE_SANITIZE})
endif()
