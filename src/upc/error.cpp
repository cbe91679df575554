// SPDX-License-Identifier: BSD-3-Clause

// Errors of the program, and ending all threads at once.
#include <shmem.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upc/internal.h"

using nearcache::upc::runtime;

extern "C" {

// A forked child ends alone: the library would wait for an answer that only its parent gets.
void upc_global_exit(int status) {
  fflush(nullptr);
  if (runtime.started && !runtime.ending && runtime.home.here()) {
    runtime.ending = true;
    shmem_global_exit(status);
  }
  _Exit(status);
}

// A single write, so that lines of several threads do not mix: fprintf makes several (glibc 2.37).
void ncupc_error(const char* file, int line, const char* what, const char* format, ...) {
  char text[1024];
  int length = snprintf(text, sizeof text, "upc: thread %d: ", ncupc_mythread);
  if (file != nullptr)
    length += snprintf(text + length, sizeof text - static_cast<size_t>(length),
                       "%.300s:%d: ", file, line);
  length += snprintf(text + length, sizeof text - static_cast<size_t>(length), "%.300s: ", what);
  va_list values;
  va_start(values, format);
  vsnprintf(text + length, sizeof text - static_cast<size_t>(length) - 1, format, values);
  va_end(values);
  fflush(stdout);
  strcat(text, "\n");
  fputs(text, stderr);
  upc_global_exit(1);
}

}  // extern "C"
