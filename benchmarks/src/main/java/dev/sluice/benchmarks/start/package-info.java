/**
 * The command {@code bin/bench start}: time that new executors take to their first blocks. {@link
 * StartCommand} starts the drivers in turn, and {@link StartJob} measures in them. {@link Training}
 * makes the files of classes that some executors start from.
 */
package dev.sluice.benchmarks.start;
