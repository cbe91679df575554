// SPDX-License-Identifier: BSD-3-Clause

// The functions below us as an ordered stack of layers: network model -> RMA engine -> the library.
// Each layer has a table of the functions below it and replaces some of them with its own; the
// topmost result is the table that the front end calls. So a call costs one indirect jump for each
// layer that replaces the function, and nothing for the others.
#pragma once

#include <algorithm>
#include <vector>

namespace nearcache {

// From bottom to top.
enum class LayerPlace { rma_engine, network_model };

template <class Table>
struct Layer {
  LayerPlace place;
  void (*cover)(Table* table);  // replaces entries of a copy of `below` with the layer's functions
  Table below{};                // the functions that the layer calls
};

template <class Table>
class LayerStack {
 public:
  // Installs a layer at its place, regardless of the order of calls. `top` is the table that the
  // front end calls. Must not run while other threads call through `top`.
  void install(Layer<Table>* layer, Table* top) {
    if (layers_.empty()) library_ = *top;
    layers_.insert(std::ranges::upper_bound(layers_, layer->place, {}, &Layer<Table>::place),
                   layer);
    Table table = library_;
    for (Layer<Table>* each : layers_) {
      each->below = table;
      each->cover(&table);
    }
    *top = table;
  }

 private:
  Table library_{};
  std::vector<Layer<Table>*> layers_;  // from bottom to top
};

}  // namespace nearcache
