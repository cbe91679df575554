// SPDX-License-Identifier: BSD-3-Clause

// A modelled network below the cache: delays the completion of every one-sided operation to L +
// size * G, so that networks that are not available can be studied on one machine. All output is
// labelled as modelled. Zero-byte operations take no time. The set of wrapped functions is
// generated from entry_points.txt (generate_model.py), so that none is forgotten.
//
// The model is a layer of the stack below us (front/layer_stack.h), so programs see the same
// network with and without the cache, and it costs nothing unless requested. base/link_model.h
// computes when a transfer completes.
#pragma once

#include <string>

namespace nearcache::mpi {

// `text` is "L,G": nanoseconds and nanoseconds per byte; an empty string installs nothing. Returns
// an error message, or "" on success.
std::string network_model_install(const std::string& text);

// "L=1900 ns, G=0.17 ns/B", or empty when nothing is modelled.
std::string network_model_label();

}  // namespace nearcache::mpi
