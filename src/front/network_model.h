// SPDX-License-Identifier: BSD-3-Clause

// What the front ends' models of a network have in common: the link, and the layer that makes calls
// take as long as over it.
#pragma once

#include <string>

#include "base/link_model.h"
#include "front/layer_stack.h"

namespace nearcache {

template <class Table>
struct NetworkModel {
  explicit NetworkModel(void (*cover)(Table*)) : layer{LayerPlace::network_model, cover} {}

  // Installs the layer, once, if `text`, the value of option `model`, names a link. Returns what is
  // wrong with it, or "".
  std::string set(const std::string& text) {
    if (text.empty() || installed) return {};
    std::string wrong = link.set(text);
    if (!wrong.empty()) return wrong;
    installed = true;
    install(&layer);
    return {};
  }
  // "" if nothing is modelled.
  std::string label() const { return installed ? link.label() : std::string(); }

  bool installed = false;
  LinkModel link;
  Layer<Table> layer;
};

}  // namespace nearcache
