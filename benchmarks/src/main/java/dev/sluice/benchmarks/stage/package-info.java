/**
 * The command {@code bin/bench stage}: staging of map outputs that are not registered. {@link
 * StageCommand} measures servers in a process of their own ({@link StageCommand.ServerMain}), while
 * {@link StageLoad} has them stage for many peers.
 */
package dev.sluice.benchmarks.stage;
