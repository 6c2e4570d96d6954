/**
 * The command {@code bin/bench verbs}: CPU time of posting and polling READs by the binding ({@link
 * ReadLoopCommand.ReadLoop}), against the same loop in C ({@code read_loop.c}). {@link ReadLoopCommand} measures
 * both.
 */
package dev.sluice.benchmarks.verbs;
