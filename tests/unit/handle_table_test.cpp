#include "base/handle_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

namespace nearcache {
namespace TEST_FILE {

TEST(HandleTable, finds_what_was_added_and_not_removed) {
  HandleTable<int> table;
  std::map<uint64_t, int*> expected;
  std::vector<int> objects(1000);
  std::mt19937 random(7);
  for (int step = 0; step < 20000; ++step) {
    const uint64_t key = random() % 500;
    if (random() % 2 == 0) {
      expected[key] = &objects[random() % objects.size()];
      table.add(key, expected[key]);
    } else {
      expected.erase(key);
      table.remove(key);
    }
    const uint64_t other = random() % 500;
    ASSERT_EQ(table.find(other), expected.contains(other) ? expected[other] : nullptr);
  }
  EXPECT_EQ(table.all().size(), expected.size());
}

// Handles come and go and reuse each other's slots; a lookup of a deleted handle must not return
// the new handle's object.
TEST(HandleTable, a_reader_of_an_old_handle_never_gets_the_object_of_a_new_one) {
  HandleTable<int> table;
  std::vector<int> objects(64);
  std::atomic<bool> done{false};
  std::atomic<long> wrong{0};
  std::thread reader([&] {
    while (!done) {
      for (uint64_t key = 0; key < objects.size(); ++key) {
        const int* found = table.find(key);
        if (found != nullptr && found != &objects[key]) ++wrong;
      }
    }
  });
  for (int round = 0; round < 300000; ++round) {
    const uint64_t key = static_cast<uint64_t>(round) % objects.size();
    table.add(key, &objects[key]);
    table.remove(key);
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace TEST_FILE
}  // namespace nearcache
