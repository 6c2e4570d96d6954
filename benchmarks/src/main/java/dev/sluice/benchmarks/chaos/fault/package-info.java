/** What goes wrong: {@link Faults} lists the faults, {@link Fault} says what one consists of. */
package dev.sluice.benchmarks.chaos.fault;
