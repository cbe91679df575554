#include "engine_model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/region.h"
#include "cache/get/get_cache.h"
#include "input.h"

namespace nearcache::test {
namespace {

constexpr uint32_t targets = 3;
constexpr int64_t memory_bytes = 8192;

// A get in flight: the data it read when it was issued, and where it is to be stored.
struct Record {
  bool alive = false;
  EntryId entry = no_entry;
  uint64_t start = 0, bytes = 0;  // [start, bytes) of the entry is in flight
  uint32_t write_seq = 0;
  std::vector<uint8_t> data;  // all bytes, as of the issue
};

class Model {
 public:
  explicit Model(Input input) : input_(input) {
    const uint32_t flags = input_.byte();
    GetCacheSettings settings;
    settings.policy = static_cast<PolicyKind>(flags % 7);
    settings.index_capacity = 1 + input_.below(120);
    settings.storage_bytes = input_.below(6000);
    settings.tuner.interval = 1;
    settings.tuner.conflict_threshold = settings.tuner.capacity_threshold = 0;
    settings.tuner.sparsity_threshold = 0.9;
    settings.tuner.stable_threshold = flags & 8 ? 0.1 : 0.9;
    settings.tuner.free_threshold = 0.1;
    const GetCache::Geometry geometry{150, 10000};
    ok_ = region_.reserve(GetCache::region_bytes(geometry));
    if (!ok_) return;
    cache_ = GetCache::create(region_.base(), geometry, settings);
    budget_.set_limit(cache_->memory() + (flags & 16 ? 20000 : 2000));
    ok_ = budget_.take(cache_->memory());
    for (auto& memory : memory_) fill(memory, 0, memory_bytes);
  }

  std::string run() {
    if (!ok_) return "no memory for the cache";
    for (int step = 0; !input_.empty(); ++step) {
      const uint32_t operation = input_.byte() % 16;
      const char* wrong = perform(operation);
      if (wrong == nullptr) wrong = cache_->check();
      if (wrong == nullptr && budget_.used() != cache_->memory())
        wrong = "the budget and the cache disagree on its memory";
      if (wrong != nullptr)
        return "step " + std::to_string(step) + ", operation " + std::to_string(operation) + ": " +
               wrong;
    }
    return {};
  }

 private:
  const char* perform(uint32_t operation) {
    switch (operation) {
      case 8:
      case 9:
        return arrive(input_.byte(), true);
      case 10:
        return arrive(input_.byte(), false);
      case 11:
        return write();
      case 12:
        return change_epoch();
      case 13:
        return cache_->adapt(&budget_), nullptr;
      case 14:
        return discard();
      case 15:
        return input_.byte() % 8 == 0 ? (cache_->reset(), nullptr) : arrive_all();
      default:
        return get();
    }
  }

  void fill(std::array<uint8_t, memory_bytes>& memory, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      memory[static_cast<size_t>(i)] = static_cast<uint8_t>(random_ >> 56);
    }
  }

  // Layout 0 is contiguous; layout 1 has every second byte.
  static int64_t stride(const Key& key) { return key.layout == 0 ? 1 : 2; }
  uint8_t now_at(const Key& key, uint64_t i) const {
    return memory_[key.target]
                  [static_cast<size_t>(key.displacement + static_cast<int64_t>(i) * stride(key))];
  }
  std::vector<uint8_t> read(const Key& key, uint64_t bytes) const {
    std::vector<uint8_t> data(bytes);
    for (uint64_t i = 0; i < bytes; ++i) data[i] = now_at(key, i);
    return data;
  }
  bool is_now(const Key& key, const uint8_t* data, uint64_t bytes) const {
    for (uint64_t i = 0; i < bytes; ++i) {
      if (data[i] != now_at(key, i)) return false;
    }
    return true;
  }
  template <class Which>  // an EntryId or an Entry
  const uint8_t* stored(const Which& which) const {
    return reinterpret_cast<const uint8_t*>(cache_->data(which));
  }

  const char* get() {
    Key key;
    key.target = input_.byte() % targets;
    key.layout = input_.byte() % 8 == 0 ? 1 : 0;
    key.displacement = static_cast<int64_t>(input_.below(30)) * 40;
    const uint64_t bytes = 1 + (input_.byte() % 8 == 0 ? input_.below(2000) : input_.byte() % 200);
    const bool bare = input_.byte() % 8 == 0;
    bool absent = false;
    if (const Entry* plain = cache_->find_hit(hash_key(key), key, bytes, &absent);
        plain != nullptr) {
      if (!is_now(key, stored(*plain), bytes))
        return "a plain hit served a value that is not allowed";
      cache_->count_hit(plain, bytes);
      return nullptr;
    }
    if (absent != (cache_->find(hash_key(key), key) == no_entry))
      return "a key is said to be absent that is not, or the other way";
    const auto found = cache_->lookup(hash_key(key), key, bytes, key.displacement,
                                      key.displacement + static_cast<int64_t>(bytes) * stride(key));
    switch (found.found) {
      case GetCache::Found::full:
        return is_now(key, stored(found.entry), bytes) ? nullptr
                                                       : "a hit served a value that is not allowed";
      case GetCache::Found::partial:
        if (found.have >= bytes) return "a partial hit has all bytes";
        if (cache_->entry(found.entry).state == State::growing &&
            (found.token >= records_.size() || !records_[found.token].alive ||
             records_[found.token].entry != found.entry))
          return "a growing entry names another get";
        if (!is_now(key, stored(found.entry), found.have))
          return "a partial hit served a value that is not allowed";
        return grow(key, found.entry, found.have, bytes);
      case GetCache::Found::pending:
      case GetCache::Found::pending_partial:
        return join(key, found, bytes);
      case GetCache::Found::none:
        break;
    }
    bool served = false;
    const char* wrong = overlap(key, bytes, &served);
    return wrong != nullptr || served ? wrong : issue(key, bytes, bare);
  }

  static Key shifted(const Key& key, uint64_t by) {
    return {key.displacement + static_cast<int64_t>(by), key.target, key.layout};
  }

  // Checks which parts of a get the cache finds in entries that begin elsewhere, against a search
  // through all entries.
  const char* overlap(const Key& key, uint64_t bytes, bool* served) {
    const GetCache::Overlap found = cache_->overlap(key, bytes);
    if (key.layout != 0)
      return found.found == GetCache::Found::none
                 ? nullptr
                 : "a strided get is said to lie within contiguous bytes";
    if (cache_->ranges().complete() && found.found != GetCache::Found::full) {
      const auto [head, tail] = overlapping(key, bytes);
      if (head >= bytes) return "an entry that contains a get was not found";
      if (found.found != GetCache::Found::pending && (found.head < head || found.tail < tail))
        return "an overlapping entry was not found";
    }
    switch (found.found) {
      case GetCache::Found::none:
        return nullptr;
      case GetCache::Found::full:
        *served = true;
        cache_->count_overlap(found.entry);
        if (!lies_within(found, key, bytes))
          return "a get is said to lie within an entry that does not contain it";
        return is_now(key, stored(found.entry) + found.offset, bytes)
                   ? nullptr
                   : "a part of an entry served a value that is not allowed";
      case GetCache::Found::pending: {
        *served = true;
        if (found.token >= records_.size() || !records_[found.token].alive ||
            records_[found.token].entry != found.entry)
          return "a part of a get under way names another";
        if (!lies_within(found, key, bytes))
          return "a get is said to lie within one under way that does not contain it";
        return is_now(key, records_[found.token].data.data() + found.offset, bytes)
                   ? nullptr
                   : "a part of a get under way would serve a value that is not allowed";
      }
      default:
        break;
    }
    if (found.head + found.tail == 0 || found.head >= bytes || found.tail >= bytes)
      return "an overlap has no bytes, or all";
    if (found.head > 0 && (!lies_within(found, key, found.head) ||
                           !is_now(key, stored(found.entry) + found.offset, found.head)))
      return "the head of an overlap is not what it should be";
    if (found.tail > 0 &&
        (cache_->entry(found.last_entry).displacement !=
             key.displacement + static_cast<int64_t>(bytes - found.tail) ||
         !is_now(shifted(key, bytes - found.tail), stored(found.last_entry), found.tail)))
      return "the tail of an overlap is not what it should be";
    return nullptr;
  }

  bool lies_within(const GetCache::Overlap& found, const Key& key, uint64_t bytes) const {
    const Entry& entry = cache_->entry(found.entry);
    return entry.layout == 0 && entry.target == key.target &&
           entry.displacement + static_cast<int64_t>(found.offset) == key.displacement &&
           found.offset + bytes <= entry.size;
  }

  // Returns how many first and last bytes of a get are cached, found by a search through all
  // entries that no write and no epoch can have made stale.
  std::pair<uint64_t, uint64_t> overlapping(const Key& key, uint64_t bytes) const {
    uint64_t head = 0, tail = 0;
    const int64_t end = key.displacement + static_cast<int64_t>(bytes);
    for (int64_t at = 0; at < 30; ++at) {
      const Key other{at * 40, key.target, 0};
      const EntryId id = cache_->find(hash_key(other), other);
      if (id == no_entry) continue;
      const Entry& entry = cache_->entry(id);
      const int64_t its_end = entry.displacement + entry.size;
      if (entry.state != State::cached || entry.generation != cache_->generation() ||
          entry.write_seq != cache_->writes().now())
        continue;
      if (entry.displacement <= key.displacement && its_end > key.displacement)
        head = std::max(head, static_cast<uint64_t>(its_end - key.displacement));
      if (entry.displacement > key.displacement && entry.displacement < end && its_end >= end)
        tail = std::max(tail, static_cast<uint64_t>(end - entry.displacement));
    }
    return {head, tail};
  }

  uint32_t new_record(const Key& key, uint64_t start, uint64_t bytes) {
    uint32_t token = 0;
    while (token < records_.size() && records_[token].alive) ++token;
    if (token == records_.size()) records_.emplace_back();
    records_[token] = {true, no_entry, start, bytes, cache_->writes().now(), read(key, bytes)};
    return token;
  }

  const char* issue(const Key& key, uint64_t bytes, bool bare) {
    const uint32_t token = new_record(key, 0, bytes);
    const EntryId id = bare ? cache_->insert_bare(hash_key(key), key, bytes, token)
                            : cache_->insert(hash_key(key), key, bytes, token).entry;
    records_[token].entry = id;
    records_[token].alive = id != no_entry;
    if (id != no_entry && cache_->find(hash_key(key), key) != id)
      return "an inserted entry is not found";
    return nullptr;
  }

  const char* grow(const Key& key, EntryId id, uint64_t have, uint64_t bytes) {
    const uint32_t token = new_record(key, have, bytes);
    const EntryId grown = cache_->grow(hash_key(key), id, bytes, token);
    records_[token].entry = grown;
    records_[token].alive = grown != no_entry;
    const EntryId there = grown == no_entry ? id : grown;
    if (cache_->find(hash_key(key), key) != there) return "an entry got lost while it grew";
    return is_now(key, stored(there), have) ? nullptr : "growing changed the head";
  }

  const char* join(const Key& key, const GetCache::Lookup& found, uint64_t bytes) {
    if (found.token >= records_.size() || !records_[found.token].alive)
      return "a pending hit names no get under way";
    const Record& record = records_[found.token];
    if (record.entry != found.entry || record.bytes != found.have)
      return "a pending hit names another get";
    if ((found.found == GetCache::Found::pending) != (bytes <= found.have))
      return "a pending hit has another length";
    if (!is_now(key, record.data.data(), std::min(bytes, found.have)))
      return "a pending hit would serve a value that is not allowed";
    if (found.found == GetCache::Found::pending || bytes % 2 == 0) return nullptr;
    cache_->supersede(found.entry);
    return issue(key, bytes, false);
  }

  const char* arrive(uint32_t which, bool succeeds) {
    if (records_.empty()) return nullptr;
    Record& record = records_[which % records_.size()];
    if (!record.alive) return nullptr;
    record.alive = false;
    if (!succeeds || !cache_->keeps(record.entry))
      return cache_->abandon(record.entry, record.write_seq), nullptr;
    std::memcpy(cache_->data(record.entry) + record.start, record.data.data() + record.start,
                record.bytes - record.start);
    cache_->complete(record.entry, record.bytes, record.write_seq);
    return nullptr;
  }

  const char* arrive_all() {
    for (uint32_t i = 0; i < records_.size(); ++i) arrive(i, true);
    return nullptr;
  }

  const char* write() {
    const uint32_t target = input_.byte() % targets;
    const int64_t from = input_.below(memory_bytes - 1);
    const int64_t to = std::min<int64_t>(
        memory_bytes,
        from + 1 + (input_.byte() % 8 == 0 ? input_.below(memory_bytes) : input_.byte()));
    cache_->record_write(target, from, to);
    fill(memory_[target], from, to);
    return nullptr;
  }

  const char* change_epoch() {
    cache_->invalidate();
    fill(memory_[input_.byte() % targets], 0, memory_bytes);
    return nullptr;
  }

  const char* discard() {
    const Key key{static_cast<int64_t>(input_.below(30)) * 40, input_.byte() % targets, 0};
    const EntryId id = cache_->find(hash_key(key), key);
    if (id == no_entry) return nullptr;
    cache_->discard(id);
    return cache_->find(hash_key(key), key) == no_entry ? nullptr : "a discarded entry is found";
  }

  Input input_;
  Region region_;
  GetCache* cache_ = nullptr;
  MemoryBudget budget_;
  std::array<std::array<uint8_t, memory_bytes>, targets> memory_{};
  std::vector<Record> records_;
  uint64_t random_ = 1;
  bool ok_ = false;
};

}  // namespace

std::string run_engine_model(const uint8_t* input, size_t size) {
  return Model(Input(input, size)).run();
}

}  // namespace nearcache::test
