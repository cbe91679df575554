#include "front/layer_stack.h"

#include <gtest/gtest.h>

#include <string>

namespace TEST_FILE {

using nearcache::Layer;
using nearcache::LayerPlace;
using nearcache::LayerStack;

struct Table {
  std::string (*get)() = nullptr;
  std::string (*put)() = nullptr;
};

Layer<Table>& engine() {
  static Layer<Table> layer{LayerPlace::rma_engine, [](Table* table) {
                              table->get = [] { return "engine " + engine().below.get(); };
                            }};
  return layer;
}

Layer<Table>& model() {
  static Layer<Table> layer{LayerPlace::network_model, [](Table* table) {
                              table->get = [] { return "model " + model().below.get(); };
                              table->put = [] { return "model " + model().below.put(); };
                            }};
  return layer;
}

Table library() {
  return {[] { return std::string("library"); }, [] { return std::string("library"); }};
}

TEST(LayerStack, LayersStandInTheirOrderWhateverComesFirst) {
  for (const bool model_first : {false, true}) {
    Table top = library();
    LayerStack<Table> stack;
    stack.install(model_first ? &model() : &engine(), &top);
    EXPECT_EQ(top.get(), model_first ? "model library" : "engine library");
    stack.install(model_first ? &engine() : &model(), &top);
    EXPECT_EQ(top.get(), "model engine library");
    EXPECT_EQ(top.put(), "model library");
  }
}

}  // namespace TEST_FILE
