#include "live.h"

#include <algorithm>

namespace model {
namespace {

constexpr int pad = 16;

void verify(const Pending& get, const char* mode, Sync sync) {
  static const char* const syncs[] = {"fence", "pscw", "lock_all", "lock", "held"};
  const Buffer& buffer = get.buffer;
  if (buffer.actual == buffer.expected) {
    return;
  }
  const size_t at =
      std::mismatch(buffer.actual.begin(), buffer.actual.end(), buffer.expected.begin()).first -
      buffer.actual.begin();
  check::expect(false,
                "seed %llu: %s, mode %s, %s, from rank %d byte %lld, shape %d layout %d x %d: byte "
                "%lld is %02x, not %02x%s",
                (unsigned long long)seed, get.what, mode, syncs[(int)sync], get.spot.target,
                (long long)get.spot.base, get.spot.shape, get.spot.layout, get.spot.count,
                (long long)at - (long long)buffer.origin, buffer.actual[at], buffer.expected[at],
                buffer.expected[at] == Buffer::canary(at) ? " (a gap?)" : "");
}

std::vector<Block> target_blocks(const Spot& spot) {
  return blocks_of(shapes[spot.shape].layouts[spot.layout], spot.count);
}

}  // namespace

Buffer::Buffer(const std::vector<Block>& blocks) {
  int64_t least = 0, most = 0;
  for (const Block& block : blocks) {
    least = std::min(least, block.offset);
    most = std::max(most, block.offset + block.bytes);
  }
  origin = (pad - least + 15) / 16 * 16;
  actual.resize(origin + most + pad);
  for (size_t i = 0; i < actual.size(); i++) {
    actual[i] = canary(i);
  }
  expected = actual;
}

Live::Live(Random& random, MPI_Comm of) : communicator(of) {
  MPI_Comm_rank(of, &rank);
  MPI_Comm_size(of, &size);
  oracle.size = size;
  const char* modes[] = {"transparent", "coherent", "coherent", "always", "user", "off"};
  mode = modes[coherent_only ? 1 : below(random, 6)];
  oracle.read_only_common = strcmp(mode, "always") == 0;
  oracle.steps = coherent_only;
  oracle.rarely_changed = coherent_only || (strcmp(mode, "coherent") == 0 && below(random, 2) == 0);
  user_writes = strcmp(mode, "user") == 0;
  allocated = below(random, 2);
  style = (Sync)below(random, 5);
  if (coherent_only && style != Sync::held && below(random, 3)) {
    style = Sync::held;  // where data from before is served, too
  }
  mixed = style != Sync::held && below(random, 3) == 0;
  const int displacement_units[] = {1, 4, 8};
  const int common_unit = displacement_units[below(random, 3)];
  const bool units_differ = below(random, 3) == 0;
  for (int i = 0; i < size; i++) {
    const int chosen = units_differ ? displacement_units[below(random, 3)] : common_unit;
    unit = i == rank ? chosen : unit;
    const int64_t kind = below(random, 10);
    oracle.bytes.push_back(kind == 0 ? 0
                           : kind == 1 || (coherent_only && kind < 5)
                               ? 20000
                               : (256 + below(random, 4000)) / 8 * 8);
    oracle.content.emplace_back();
    for (int64_t j = 0; j < oracle.bytes[i]; j++) {
      oracle.content[i].push_back((uint8_t)random());
    }
    oracle.writer.emplace_back(oracle.bytes[i], nobody);
  }
  oracle.before = oracle.content;
  oracle.make_spots(random, shapes, coherent_only ? 8 : 30);
  create(random);
}

void Live::create(Random& random) {
  MPI_Info info = check::info("nearcache_mode", mode);
  const char* storages[] = {"1M", "16k", "1000"};
  const char* indices[] = {"4096", "64", "7"};
  MPI_Info_set(info, "nearcache_storage",
               storages[below(random, coherent_only && below(random, 4) ? 2 : 3)]);
  MPI_Info_set(info, "nearcache_index",
               indices[below(random, coherent_only && below(random, 4) ? 2 : 3)]);
  const int64_t bytes = oracle.bytes[rank];
  if (allocated) {
    MPI_Win_allocate(bytes, unit, info, communicator, &memory, &win);
  } else {
    MPI_Alloc_mem(std::max<int64_t>(bytes, 8), MPI_INFO_NULL, &memory);
    MPI_Win_create(memory, bytes, unit, info, communicator, &win);
  }
  windows.push_back(win);
  // A second window over the same memory. In mode always, writes through either of them would break
  // the promise.
  if (!oracle.read_only_common && !without.twins && below(random, coherent_only ? 12 : 3) == 0) {
    MPI_Win_create(memory, bytes, unit, info, communicator, &win);
    windows.push_back(win);
  }
  MPI_Info_free(&info);
  std::copy(oracle.content[rank].begin(), oracle.content[rank].end(), memory);
  std::vector<int> all_units(size);
  MPI_Allgather(&unit, 1, MPI_INT, all_units.data(), 1, MPI_INT, communicator);
  units_of_targets = all_units;
  if (style == Sync::held) {
    for (const MPI_Win each : windows) {
      MPI_Win_lock_all(0, each);
      MPI_Win_sync(each);
    }
    MPI_Barrier(communicator);
  }
}

void Live::free() {
  // The first window is freed last, as it may own the memory.
  for (size_t i = windows.size(); i-- > 0;) {
    if (style == Sync::held) {
      MPI_Win_unlock_all(windows[i]);
    }
    MPI_Win_free(&windows[i]);
  }
  if (!allocated) {
    MPI_Free_mem(memory);
  }
}

void Live::check_memory() {
  const std::vector<uint8_t>& right = oracle.content[rank];
  const auto at = std::mismatch(right.begin(), right.end(), memory).first - right.begin();
  if (at != (int64_t)right.size()) {
    check::expect(
        false, "seed %llu: memory of a window in mode %s: byte %lld is %02x, not %02x, writer %d",
        (unsigned long long)seed, mode, (long long)at, memory[at], right[at],
        oracle.writer[rank][at] - 1);
  }
}

void Live::store(const Plan& plan) {
  for (const Store& store : plan.stores) {
    if (store.owner == rank) {
      std::copy(store.bytes.begin(), store.bytes.end(), memory + store.at);
    }
  }
}

// Synchronises all ranks, by any of the calls that do so: all have completed their previous
// operations, and know that of each other.
void Live::meet(Random& common) {
  const MPI_Comm comm = communicator;
  MPI_Request request;
  int token = 0, sum = 0;
  switch (below(common, 6)) {
    case 0:  // twice around: the second time it tells of all
      for (int round = 0; round < 2; round++) {
        if (rank > 0) {
          MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, comm, MPI_STATUS_IGNORE);
        }
        MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 1, comm);
        if (rank == 0) {
          MPI_Recv(&token, 1, MPI_INT, size - 1, 1, comm, MPI_STATUS_IGNORE);
        }
      }
      break;
    case 1: {  // each to each: a posted receive tells the sender, too
      std::vector<MPI_Request> requests;
      for (int other = 0; other < size; other++) {
        MPI_Irecv(nullptr, 0, MPI_INT, other, 2, comm, &request);
        requests.push_back(request);
        MPI_Issend(nullptr, 0, MPI_INT, other, 2, comm, &request);
        requests.push_back(request);
      }
      MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE);
      break;
    }
    case 2:
      MPI_Ibarrier(comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 3:
      MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, comm);
      break;
    default:
      MPI_Barrier(comm);
      break;
  }
}

// One phase: the owners' stores, then the gets and writes of all ranks, in epochs of one kind.
void Live::phase(Random& common, Random& own, int gets) {
  win = windows[below(common, (int64_t)windows.size())];
  const Sync drawn = mixed ? (Sync)below(common, 4) : style;
  Plan plan = oracle.plan_phase(
      common, shapes, drawn == Sync::lock && without.locks ? Sync::lock_all : drawn, user_writes);
  present = plan.sync;
  current = &plan;
  ready.assign(size, {});
  for (int i = 0; i < size; i++) {
    ready[i].assign(oracle.bytes[i], 0);
  }
  if (plan.sync == Sync::held) {
    store(plan);
    MPI_Win_sync(win);
  } else if (coherent_only && (plan.sync == Sync::fence || plan.sync == Sync::pscw)) {
    store(plan);  // before the fence or the post that lets others in
  } else if (!plan.stores.empty()) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    store(plan);
    MPI_Win_unlock(rank, win);
  }
  if (user_writes && check::cached()) {
    for (const MPI_Win each : windows) {
      // ends the read-only phase of the stores and of the writes of the previous phase
      nearcache_invalidate(each);
    }
  }
  meet(common);
  switch (plan.sync) {
    case Sync::fence:
    case Sync::pscw:
      run_active(own, plan, gets);
      break;
    case Sync::lock:
      run_locks(own, plan, gets);
      break;
    default:
      run_passive(own, plan, gets);
      break;
  }
  if (coherent_only && !plan.writes.empty() && below(common, 2)) {
    usleep(1000);  // then there is time to tell that nobody writes there any more
  }
  meet(common);
  if (plan.sync == Sync::held) {
    MPI_Win_sync(win);
  }
  check_memory();
}

void Live::run_active(Random& own, Plan& plan, int gets) {
  MPI_Group group;
  MPI_Comm_group(communicator, &group);
  if (plan.sync == Sync::fence) {
    MPI_Win_fence(0, win);
  } else {
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
  }
  for (int i = 0; i < gets; i++) {
    act(own, plan, -1, false);
    if (plan.sync == Sync::fence && i == gets / 2) {
      MPI_Win_fence(0, win);
      completed(-1, true);
    }
  }
  while (write_next(own, plan, -1, false)) {
  }
  if (plan.sync == Sync::fence) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  } else {
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
  operations += 2;
  completed(-1, true);
  MPI_Group_free(&group);
}

void Live::run_passive(Random& own, Plan& plan, int gets) {
  if (plan.sync == Sync::lock_all) {
    MPI_Win_lock_all(0, win);
  }
  for (int i = 0; i < gets; i++) {
    act(own, plan, -1, true);
    if (below(own, 8) == 0) {
      synchronise(own, (int)below(own, size));
    }
  }
  while (write_next(own, plan, -1, true)) {
  }
  plan.sync == Sync::lock_all ? MPI_Win_unlock_all(win) : MPI_Win_flush_all(win);
  operations += 2;
  completed(-1, true);
}

void Live::run_locks(Random& own, Plan& plan, int gets) {
  const int bursts = 2 * size;
  for (int burst = 0; burst < bursts; burst++) {
    const int target = (burst + rank) % size;
    MPI_Win_lock(below(own, coherent_only ? 64 : 4) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target,
                 0, win);
    for (int i = 0; i < gets / bursts; i++) {
      act(own, plan, target, true);
      if (below(own, 8) == 0) {
        synchronise(own, target);
      }
    }
    while (burst >= size && write_next(own, plan, target, true)) {
    }
    MPI_Win_unlock(target, win);
    operations += 2;
    completed(target, true);
  }
  take_turns();
}

// One operation on `target`; -1 stands for any.
void Live::act(Random& own, Plan& plan, int target, bool passive) {
  if (below(own, 10) == 0 && write_next(own, plan, target, passive)) {
    return;
  }
  if (coherent_only && below(own, 16) == 0) {
    return learn(own, passive);
  }
  if (below(own, 40) == 0 || oracle.spots.empty()) {
    return odd_call(own, passive);
  }
  for (int attempt = 0; attempt < 10; attempt++) {
    Spot spot = oracle.spots[below(own, (int64_t)oracle.spots.size())];
    if (below(own, 4) == 0) {
      spot.count = 1;  // less of what may be cached
    }
    if (coherent_only && spot.target == rank && target < 0 && below(own, 8)) {
      continue;  // which needs no cache
    }
    if ((target < 0 || spot.target == target) && oracle.may_read(rank, spot, shapes, ready)) {
      return get(own, spot, passive);
    }
  }
}

void Live::synchronise(Random& own, int target) {
  const int kind = (int)below(own, 6);
  int* failing =
      kind < 4 && !without.failures && below(own, 10) == 0 ? lazy_mpi_failing() : nullptr;
  if (failing != nullptr) {
    *failing = 1;
  }
  int code = MPI_SUCCESS;
  switch (kind) {
    case 0:
      code = MPI_Win_flush(target, win);
      break;
    case 1:
      code = MPI_Win_flush_all(win);
      break;
    case 2:
      code = MPI_Win_flush_local(target, win);
      break;
    case 3:
      code = MPI_Win_flush_local_all(win);
      break;
    case 4:
      wait_requests(own);
      break;
    default:
      without.status ? wait_requests(own) : look_at_requests(own);
      break;
  }
  if (failing != nullptr) {
    *failing = 0;
  }
  operations++;
  if (kind < 4 && code == MPI_SUCCESS) {  // one that failed has completed nothing
    completed(kind % 2 ? -1 : target, kind < 2);
  }
}

// This rank may have learned of others' writes, as far as the cache can know.
void Live::learn(Random& own, bool passive) {
  int token = 0, found = 0;
  if (passive && present != Sync::lock && below(own, 2)) {
    MPI_Win_sync(win);
  } else if (below(own, 2)) {
    MPI_Sendrecv(nullptr, 0, MPI_INT, rank, 3, &token, 1, MPI_INT, rank, 3, communicator,
                 MPI_STATUS_IGNORE);
  } else {
    MPI_Send(nullptr, 0, MPI_INT, rank, 4, communicator);
    MPI_Request request;
    MPI_Irecv(nullptr, 0, MPI_INT, rank, 4, communicator, &request);
    while (!found) {
      MPI_Test(&request, &found, MPI_STATUS_IGNORE);
    }
  }
  operations++;
}

// Prints which writes of this phase overlap a wrong get.
void Live::explain(const Pending& get) const {
  for (const Block& block : target_blocks(get.spot)) {
    for (int64_t i = get.spot.base + block.offset; i < get.spot.base + block.offset + block.bytes;
         i++) {
      if (oracle.writer[get.spot.target][i] == nobody) {
        continue;
      }
      for (const Write& write : current->writes) {
        for (const Block& written : target_blocks(write.spot)) {
          const int64_t from = write.spot.base + written.offset;
          if (write.spot.target == get.spot.target && i >= from && i < from + written.bytes) {
            std::printf(
                "model: byte %lld, %02x before, was written by rank %d (this is rank %d), kind %d, "
                "base %lld, shape %d layout %d x %d\n",
                (long long)i, oracle.before[get.spot.target][i], write.writer, rank,
                (int)write.kind, (long long)write.spot.base, write.spot.shape, write.spot.layout,
                write.spot.count);
            return;
          }
        }
      }
    }
  }
  std::printf(
      "model: no byte of it was written in this phase; the target has %lld bytes, comm rank %d\n",
      (long long)oracle.bytes[get.spot.target], rank);
}

// Handles what the last synchronisation with `target` (-1 for all) has completed.
void Live::completed(int target, bool at_target) {
  std::deque<Pending> later;
  for (Pending& get : pending) {
    if (target >= 0 && get.spot.target != target) {
      later.push_back(std::move(get));
    } else {
      const bool wrong = get.buffer.actual != get.buffer.expected;
      verify(get, mode, present);
      if (wrong) {
        explain(get);
      }
      MPI_Wait(&get.request, MPI_STATUS_IGNORE);
    }
  }
  pending = std::move(later);
  for (Pending& get : looked_at) {
    MPI_Wait(&get.request, MPI_STATUS_IGNORE);
  }
  looked_at.clear();
  std::deque<Writing> unfinished;
  for (Writing& each : writing) {
    const Write& write = *each.write;
    if (!at_target || (target >= 0 && write.spot.target != target)) {
      unfinished.push_back(std::move(each));
      continue;
    }
    MPI_Wait(&each.request, MPI_STATUS_IGNORE);
    if (write.kind != Kind::sum) {
      for (const Block& block : target_blocks(write.spot)) {
        std::fill_n(&ready[write.spot.target][write.spot.base + block.offset], block.bytes, 1);
      }
    }
  }
  writing = std::move(unfinished);
}

}  // namespace model
