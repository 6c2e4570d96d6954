/**
 * The command {@code bin/bench row}: prints a machine's row of the table in
 * docs/dev/hardware-rows.md. {@link RowCommand} gets the facts from {@link RowFacts} and the READs
 * from {@link RowReads}, and prints a {@link HardwareRow}.
 */
package dev.sluice.benchmarks.row;
