/**
 * The command {@code bin/bench tail}: the slowest reduce tasks next to an executor that is late.
 * {@link TailCommand} starts the drivers in turn, {@link TailJob} measures in them, and {@link
 * LateRdmaShuffleManager} makes one executor late.
 */
package dev.sluice.benchmarks.tail;
