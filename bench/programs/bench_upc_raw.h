// SPDX-License-Identifier: BSD-3-Clause

// The OpenSHMEM below the UPC program, through its own calls; and plain C for comparison.
#pragma once

#include <stddef.h>

int raw_caching(void);
// makes data read earlier stale, so that both sides of a comparison go to the network
void raw_forget(void);
void raw_get(void* to, const void* from, size_t bytes, int pe);
void raw_put(void* to, const void* from, size_t bytes, int pe);
void raw_quiet(void);
// a = b + alpha * c
void raw_triad(double* a, const double* b, const double* c, double alpha, long elements);
