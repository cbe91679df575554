// The functions below us as an ordered stack of layers: network model -> RMA engine -> the library.
// Each layer stands on a table of what is below it, and puts functions of its own in the places of
// some; the uppermost result is the table that the front end calls. So a call costs one indirect
// jump for every layer that has a function in its place, and none for the others.
#pragma once

#include <algorithm>
#include <vector>

namespace nearcache {

// From the bottom.
enum class LayerPlace { rma_engine, network_model };

template <class Table>
struct Layer {
  LayerPlace place;
  void (*cover)(Table* table);  // puts the layer's functions into a table of what is below it
  Table below{};                // what these call
};

template <class Table>
class LayerStack {
 public:
  // In its place, whatever was installed before; `top` is the table that is called. Not while other
  // threads call.
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
  std::vector<Layer<Table>*> layers_;  // from the bottom
};

}  // namespace nearcache
