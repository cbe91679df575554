// A modelled network below the cache: delays the completion of every one-sided operation to L +
// size * G, so that networks that are not available can be studied on one machine. All output is
// labelled as modelled. Operations of no bytes take no time. Which functions it wraps is derived
// from entry_points.txt (generate_model.py), so that none is forgotten.
//
// It is a layer of the stack below us (front/layer_stack.h), so programs with and without the cache
// see the same network, and it costs nothing unless requested. base/link_model.h computes when a
// transfer is complete.
#pragma once

#include <string>

namespace nearcache::mpi {

// `text` is "L,G": nanoseconds and nanoseconds per byte; empty installs nothing. Returns what is
// wrong, or "".
std::string network_model_install(const std::string& text);

// "L=1900 ns, G=0.17 ns/B", or empty when nothing is modelled.
std::string network_model_label();

}  // namespace nearcache::mpi
