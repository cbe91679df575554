// SPDX-License-Identifier: BSD-3-Clause

// clients NAME: programs modelled on public one-sided MPI codes. They know nothing of a cache: they
// set no info key and make no Nearcache call. See README.md in this directory.
#include <mpi.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "clients/client.h"
#include "clients/options.h"
#include "common/program.h"

namespace clients {
namespace {

struct Client {
  Outcome (*run)(const Job&);
  std::int64_t size, rounds;  // defaults
};

const std::map<std::string, Client> all = {
    {"cg", {cg, 12, 10}},
    {"hash_map", {hash_map, 1024, 10}},
    {"spmv_lock", {spmv_lock, 256, 10}},
    {"spmv_dynamic", {spmv_dynamic, 256, 10}},
    {"samples_fence", {samples_fence, 512, 10}},
    {"samples_lock", {samples_lock, 512, 10}},
    {"lu", {lu, 16, 10}},
    {"lu_steps", {lu_steps, 32, 5}},
    {"lock_lookups", {lock_lookups, 256, 20}},
    {"put_random", {put_random, 256, 100}},
    {"accumulate", {accumulate, 256, 100}},
    {"halo", {halo, 512, 100}},
    {"rewritten", {rewritten, 32, 100}},
    {"messages", {messages, 1024, 100}},
};

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& [name, client] : all) found.push_back(name);
  return found;
}

void run(MPI_Comm comm, const Command& command) {
  const Client& client = all.at(command.name);
  Job job{comm, 0, 0, command.size ? command.size : client.size,
          command.rounds ? command.rounds : client.rounds};
  MPI_Comm_rank(job.comm, &job.rank);
  MPI_Comm_size(job.comm, &job.ranks);
  Outcome outcome = client.run(job);
  MPI_Allreduce(MPI_IN_PLACE, &outcome.checksum, 1, MPI_UINT64_T, MPI_SUM, job.comm);
  MPI_Allreduce(MPI_IN_PLACE, &outcome.gets, 1, MPI_UINT64_T, MPI_SUM, job.comm);
  if (job.rank != 0) return;  // rounds end together, so the times of one rank suffice
  fmt::print(
      "{{\"client\": \"{}\", \"ranks\": {}, \"size\": {}, \"rounds\": {}, \"gets\": {}, "
      "\"checksum\": \"{:016x}\", \"seconds\": [{:.6f}]}}\n",
      command.name, job.ranks, job.size, job.rounds, outcome.gets, outcome.checksum,
      fmt::join(outcome.seconds, ", "));
}

}  // namespace
}  // namespace clients

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto parse = [](int count, char** words) {
    return clients::parse_command_line(clients::names(), count, words);
  };
  const int code = apps::program_in_mpi("clients", MPI_COMM_WORLD, argc, argv, parse, clients::run);
  std::fflush(nullptr);
  MPI_Finalize();
  return code;
}
