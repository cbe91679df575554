// SPDX-License-Identifier: BSD-3-Clause

// clients NAME: programs modelled on public one-sided MPI codes. They know nothing of a cache: they
// set no info key and make no Nearcache call. See README.md in this directory.
#include <mpi.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "clients/client.h"

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

struct Command {
  std::string name;
  std::int64_t size = 0, rounds = 0;  // 0: use the program's default
};

// Returns the exit code, or -1 if the program should run.
int parse(int argc, char** argv, int rank, Command& command) {
  std::string names;
  for (const auto& [name, client] : all) names += (names.empty() ? "" : ", ") + name;
  CLI::App app("Programs in the shape of public one-sided MPI codes.", "clients");
  app.add_option("name", command.name, "One of " + names)
      ->required()
      ->check(CLI::IsMember(all).description(""))
      ->option_text("NAME");
  const CLI::Range positive(std::int64_t{1}, std::int64_t{1} << 20);
  app.add_option("--size", command.size, "Size, as the program counts it")
      ->check(positive)
      ->option_text("N");
  app.add_option("--rounds", command.rounds, "Rounds, as the program counts them")
      ->check(positive)
      ->option_text("N");
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::Success& reason) {
    std::ostringstream text;
    app.exit(reason, text, text);
    if (rank == 0) fmt::print("{}", text.str());
    return 0;
  } catch (const CLI::ParseError& error) {
    if (rank == 0)
      fmt::print(stderr, "clients: {} (clients --help shows the options)\n", error.what());
    return 2;
  }
}

void run(const Command& command) {
  const Client& client = all.at(command.name);
  Job job{MPI_COMM_WORLD, 0, 0, command.size ? command.size : client.size,
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
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  clients::Command command;
  const int code = clients::parse(argc, argv, rank, command);
  if (code < 0) clients::run(command);
  std::fflush(nullptr);
  MPI_Finalize();
  return code < 0 ? 0 : code;
}
