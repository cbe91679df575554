#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A dragonfly of 128 nodes with the latency and bandwidth of an Aries network, as a SimGrid platform.

    dragonfly.py --xml FILE --hosts FILE --ranks P

Groups of chassis of routers, all to all on each level, as in a Cray XC; one rank a node. Ranks are spread evenly over
the machine, so that a pair of ranks is as far apart with 16 of them as with 128.

The constants are set so that `bench_ping` (ping.cpp) measures what foMPI's paper does on Cray's network: a get of 8 bytes with its
flush takes 1.9 us, a byte more 0.17 ns.
"""

import argparse

GROUPS, CHASSIS, ROUTERS, NODES = 4, 2, 4, 4
HOSTS = GROUPS * CHASSIS * ROUTERS * NODES
LINK_LATENCY_US = 0.4055
# 0.17 ns/B at the node; the links between routers carry several nodes' traffic.
LINK_BANDWIDTH_GBPS = 5.88
LINKS_BETWEEN_GROUPS, LINKS_BETWEEN_CHASSIS, LINKS_BETWEEN_ROUTERS = 4, 3, 1


def xml():
    shape = f"{GROUPS},{LINKS_BETWEEN_GROUPS};{CHASSIS},{LINKS_BETWEEN_CHASSIS};{ROUTERS},{LINKS_BETWEEN_ROUTERS};{NODES}"
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <!-- SimGrid 4.0 crashes if the cluster is in no zone. -->
  <zone id="machine" routing="Full">
    <cluster id="dragonfly" prefix="node-" suffix="" radical="0-{HOSTS - 1}" speed="1Gf"
             bw="{LINK_BANDWIDTH_GBPS}GBps" lat="{LINK_LATENCY_US}us" loopback_bw="50GBps" loopback_lat="0.05us"
             topology="DRAGONFLY" topo_parameters="{shape}"/>
  </zone>
</platform>
"""


def hosts(ranks):
    """Return the node of every rank."""
    if not 1 <= ranks <= HOSTS:
        raise ValueError(f"--ranks {ranks}: 1 to {HOSTS}")
    return [f"node-{rank * HOSTS // ranks}" for rank in range(ranks)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xml", required=True, metavar="FILE")
    parser.add_argument("--hosts", required=True, metavar="FILE")
    parser.add_argument("--ranks", required=True, type=int, metavar="P")
    arguments = parser.parse_args()
    with open(arguments.xml, "w", encoding="utf-8") as file:
        file.write(xml())
    with open(arguments.hosts, "w", encoding="utf-8") as file:
        file.write("\n".join(hosts(arguments.ranks)) + "\n")


if __name__ == "__main__":
    main()
