/* SPDX-License-Identifier: BSD-3-Clause */
/* How these headers declare the library's functions: once, both for the translator, which reads
 * them as UPC, and for C code that uses nearcache/upc_runtime.h, where each pointer to shared is an
 * ncupc_ptr.
 *
 * NCUPC_LINED declares a function whose error messages name the line of its call: in C, a macro
 * with the function's name calls a function that takes file and line before the other arguments.
 * The plain function exists too, so that its address can be taken; src/upc/plain.cpp defines all of
 * them. */
#ifndef NEARCACHE_UPC_UPC_DECLARE_H
#define NEARCACHE_UPC_UPC_DECLARE_H

#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H

#define NCUPC_SHARED ncupc_ptr
#define NCUPC_SHARED_CONST ncupc_ptr
#define NCUPC_SHARED_ANY ncupc_ptr
#define NCUPC_SHARED_RESTRICT(T) ncupc_ptr
#define NCUPC_RESTRICT __restrict
#define NCUPC_NORETURN __attribute__((noreturn))

#define NCUPC_FROM_LINE(...) const char *file, int line, __VA_ARGS__
#define NCUPC_ALL(...) __VA_ARGS__
#ifdef NCUPC_DEFINE_PLAIN
#define NCUPC_PLAIN(T, plain, parameters, lined, arguments) \
  T plain parameters { return lined arguments; }
#else
#define NCUPC_PLAIN(T, plain, parameters, lined, arguments) T plain parameters;
#endif
#define NCUPC_LINED(T, name, parameters, arguments) \
  T ncupc_##name(NCUPC_FROM_LINE parameters);       \
  NCUPC_PLAIN(T, upc_##name, parameters, ncupc_##name, (0, 0, NCUPC_ALL arguments))
#define NCUPC_LINED_ALONE(T, name)            \
  T ncupc_##name(const char* file, int line); \
  NCUPC_PLAIN(T, upc_##name, (void), ncupc_##name, (0, 0))

#else

#define NCUPC_SHARED shared void*
#define NCUPC_SHARED_CONST shared const void*
#define NCUPC_SHARED_ANY shared const volatile void*
#define NCUPC_SHARED_RESTRICT(T) shared T* restrict
#define NCUPC_RESTRICT restrict
#define NCUPC_NORETURN

#define NCUPC_LINED(T, name, parameters, arguments) T upc_##name parameters;
#define NCUPC_LINED_ALONE(T, name) T upc_##name(void);

#endif
#endif
