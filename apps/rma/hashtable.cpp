// SPDX-License-Identifier: BSD-3-Clause

// Random inserts into a distributed hash table (foMPI paper, section 4.1). Each rank has slots and
// a heap; elements whose slot is taken are chained to it in the heap. rma: a slot is taken by
// compare-and-swap; if that fails, a fetch-and-add allocates an element in the heap, an atomic
// exchange replaces the chain's head, and a put writes the element and its link. --ahead inserts
// perform each step together. messages: the key is sent to its owner, which polls for messages
// after each of its own inserts; arrivals are not acknowledged.
#include <mpi.h>

#include <span>
#include <vector>

#include "common/hash.h"
#include "rma/program.h"

namespace rma_apps {
namespace {

struct Element {
  std::uint64_t key, next;  // next: 1 + index in the heap; 0: none
};

// Layout of a rank's window, in units of 8 bytes: a word that counts used heap elements, the slots,
// the heap.
struct Layout {
  std::int64_t slots, heap;
  static constexpr MPI_Aint used = 0;
  MPI_Aint slot(std::uint64_t number) const { return 2 + 2 * static_cast<MPI_Aint>(number); }
  MPI_Aint place(std::uint64_t number) const {
    return slot(static_cast<std::uint64_t>(slots)) + 2 * static_cast<MPI_Aint>(number);
  }
  std::int64_t words() const { return place(static_cast<std::uint64_t>(heap)); }
};

struct Home {
  int rank;
  std::uint64_t slot;
};

class Table {
 public:
  explicit Table(const Job& job)
      : job_(job),
        layout_{job.options.size, job.options.size + 64 * job.ranks + 1000},
        window_(job, layout_.words()) {
    window_.open();
  }
  ~Table() { window_.close(); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Home home(std::uint64_t key) const {
    const std::uint64_t hash = apps::mix64(key);
    const auto ranks = static_cast<std::uint64_t>(job_.ranks);
    return {static_cast<int>(hash % ranks),
            hash / ranks % static_cast<std::uint64_t>(layout_.slots)};
  }

  // Inserts all keys at once: those that find their slot taken, possibly by another key of this
  // call, proceed to the next step together.
  void insert(std::span<const std::uint64_t> keys) {
    under_way_.clear();
    for (const std::uint64_t key : keys) {
      const Home at = home(key);
      under_way_.push_back({at.rank, layout_.slot(at.slot), {key, 0}});
    }
    for (Insert& insert : under_way_) {
      MPI_Compare_and_swap(&insert.element.key, &empty, &insert.found, MPI_UINT64_T, insert.rank,
                           insert.slot, window_.handle());
    }
    flush();
    std::erase_if(under_way_, [](const Insert& insert) { return insert.found == empty; });
    for (Insert& insert : under_way_) {
      MPI_Fetch_and_op(&one, &insert.found, MPI_UINT64_T, insert.rank, Layout::used, MPI_SUM,
                       window_.handle());
    }
    flush();
    // the heap is full: drop the key, and the final check will notice that it is missing
    std::erase_if(under_way_, [&](const Insert& insert) {
      return insert.found >= static_cast<std::uint64_t>(layout_.heap);
    });
    for (Insert& insert : under_way_) {
      insert.head = insert.found + 1;
      MPI_Fetch_and_op(&insert.head, &insert.element.next, MPI_UINT64_T, insert.rank,
                       insert.slot + 1, MPI_REPLACE, window_.handle());
    }
    flush();
    for (const Insert& insert : under_way_) {
      MPI_Put(&insert.element, 2, MPI_UINT64_T, insert.rank, layout_.place(insert.found), 2,
              MPI_UINT64_T, window_.handle());
    }
    flush();
  }

  // Inserts a key at its owner. pre: no other rank is accessing the table
  void insert_here(std::uint64_t key) {
    std::uint64_t* const words = window_.memory();
    std::uint64_t* const slot = words + layout_.slot(home(key).slot);
    if (slot[0] == 0) {
      slot[0] = key;
      return;
    }
    const std::uint64_t number = words[Layout::used]++;
    if (number >= static_cast<std::uint64_t>(layout_.heap)) return;
    words[layout_.place(number)] = key;
    words[layout_.place(number) + 1] = slot[1];
    slot[1] = number + 1;
  }

  void meet() const { window_.meet(); }

  // Counts the keys stored in the right place and adds up their hashes.
  void look(std::uint64_t& count, std::uint64_t& sum) const {
    const std::uint64_t* const words = window_.memory();
    const auto found = [&](std::uint64_t key, std::uint64_t slot) {
      const Home at = home(key);
      if (at.rank != job_.rank || at.slot != slot) return;
      ++count;
      sum += apps::mix64(~key);
    };
    for (std::uint64_t slot = 0; slot < static_cast<std::uint64_t>(layout_.slots); ++slot) {
      const std::uint64_t* const at = words + layout_.slot(slot);
      if (at[0] == 0) continue;
      found(at[0], slot);
      std::int64_t steps = 0;
      for (std::uint64_t next = at[1]; next != 0 && steps < layout_.heap; ++steps) {
        const std::uint64_t* const place = words + layout_.place(next - 1);
        found(place[0], slot);
        next = place[1];
      }
    }
  }

 private:
  // An insert in progress.
  struct Insert {
    int rank;
    MPI_Aint slot;
    Element element;
    std::uint64_t found = 0;  // the slot's previous value, later the element's index in the heap
    std::uint64_t head = 0;   // the new head of the slot's chain
  };
  static constexpr std::uint64_t empty = 0, one = 1;

  void flush() const {
    if (under_way_.size() == 1) {
      MPI_Win_flush(under_way_.front().rank, window_.handle());
    } else if (!under_way_.empty()) {
      MPI_Win_flush_all(window_.handle());
    }
  }

  const Job& job_;
  Layout layout_;
  Window<std::uint64_t> window_;
  std::vector<Insert> under_way_;
};

// Returns a key; all keys differ, and none is 0.
std::uint64_t key_of(const Job& job, std::int64_t number) {
  return apps::mix64(static_cast<std::uint64_t>(number * job.ranks + job.rank)) | 1;
}

// Sends keys to their owners as messages; a message of length 0 means that the sender has no more.
class Messages {
 public:
  Messages(const Job& job, Table& table) : job_(job), table_(table), waiting_(job.ranks - 1) {
    receive();
  }

  void insert(std::uint64_t key) {
    const int owner = table_.home(key).rank;
    if (owner == job_.rank) return table_.insert_here(key);
    // The ring bounds the messages in flight: wait until the oldest one has been sent.
    Sent& sent = ring_[at_++ % ring_.size()];
    finish(sent);
    sent.key = key;
    MPI_Isend(&sent.key, 1, MPI_UINT64_T, owner, 0, job_.comm, &sent.request);
    look();
  }

  void end() {
    for (Sent& sent : ring_) finish(sent);
    for (int rank = 0; rank < job_.ranks; ++rank) {
      if (rank == job_.rank) continue;
      Sent& sent = ring_[at_++ % ring_.size()];
      finish(sent);
      MPI_Isend(nullptr, 0, MPI_UINT64_T, rank, 0, job_.comm, &sent.request);
    }
    while (waiting_ > 0) look();
    for (Sent& sent : ring_) finish(sent);
  }

 private:
  struct Sent {
    std::uint64_t key = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void receive() {
    if (waiting_ > 0)
      MPI_Irecv(&received_, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 0, job_.comm, &receiving_);
  }

  void look() {
    for (int arrived = 1; arrived != 0 && waiting_ > 0;) {
      MPI_Status status;
      MPI_Test(&receiving_, &arrived, &status);
      if (arrived == 0) return;
      int count = 0;
      MPI_Get_count(&status, MPI_UINT64_T, &count);
      if (count == 0) {
        --waiting_;
      } else {
        table_.insert_here(received_);
      }
      receive();
    }
  }

  void finish(Sent& sent) {
    for (int gone = 0; gone == 0;) {
      MPI_Test(&sent.request, &gone, MPI_STATUS_IGNORE);
      if (gone == 0) look();
    }
  }

  const Job& job_;
  Table& table_;
  int waiting_;  // number of ranks that have not finished
  std::vector<Sent> ring_ = std::vector<Sent>(64);
  std::size_t at_ = 0;
  std::uint64_t received_ = 0;
  MPI_Request receiving_ = MPI_REQUEST_NULL;
};

Outcome run(const Job& job) {
  Outcome outcome;
  outcome.correct = true;
  const std::int64_t inserts = job.options.size;
  std::int64_t next = 0;
  for (std::int64_t round = 0; round < job.options.rounds; ++round) {
    Table table(job);
    std::uint64_t wanted = 0, count = 0, sum = 0;
    timed(job, outcome, [&] {
      if (job.options.way == "messages") {
        Messages messages(job, table);
        for (std::int64_t i = 0; i < inserts; ++i) messages.insert(key_of(job, next + i));
        messages.end();
      } else {
        std::vector<std::uint64_t> keys;
        for (std::int64_t i = 0; i < inserts; ++i) {
          keys.push_back(key_of(job, next + i));
          if (i + 1 < inserts && std::ssize(keys) < job.options.ahead) continue;
          table.insert(keys);
          keys.clear();
        }
      }
      table.meet();
    });
    for (std::int64_t i = 0; i < inserts; ++i) wanted += apps::mix64(~key_of(job, next + i));
    next += inserts;
    table.look(count, sum);
    outcome.correct = outcome.correct &&
                      job.sum(count) == static_cast<std::uint64_t>(inserts) *
                                            static_cast<std::uint64_t>(job.ranks) &&
                      job.sum(wanted) == job.sum(sum);
    outcome.checksum += job.sum(sum);
  }
  return outcome;
}

const Program hashtable{"hashtable",
                        "Random inserts into a distributed hash table.",
                        {"rma", "messages"},
                        "Inserts and slots of a rank",
                        4000,
                        5,
                        "Inserts of a rank that are under way at once"};

}  // namespace
}  // namespace rma_apps

int main(int argc, char** argv) {
  return rma_apps::program(rma_apps::hashtable, argc, argv, rma_apps::run);
}
