/**
 * The command {@code bin/bench row}: prints a machine's row of the table in
 * docs/dev/hardware-rows.md. {@link RowCommand} prints a {@link HardwareRow}, which finds the facts;
 * {@link RowReads} measures READs.
 */
package dev.sluice.benchmarks.row;
