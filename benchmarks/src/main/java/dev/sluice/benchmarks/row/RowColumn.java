// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.row;

/**
 * Columns of the table in docs/dev/hardware-rows.md, in their order; a new one changes that table,
 * too.
 */
enum RowColumn {
  DEVICE("device"),
  FIRMWARE("firmware"),
  LINK("link"),
  KERNEL("kernel"),
  RDMA_CORE("rdma-core"),
  HOSTS("hosts"),
  READ_64_KIB("READ of 64 KiB, MiB/s"),
  READ_1_MIB("READ of 1 MiB, MiB/s"),
  READ_2_B("READ of 2 B, us"),
  TERASORT("TeraSort");

  private final String title;

  RowColumn(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }
}
