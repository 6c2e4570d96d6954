/**
 * The command {@code bin/bench stage}: the cost of map outputs that do not fit registered memory.
 * {@link RegisterVersusCopy} compares copying a map output with registering it. {@link StagePeers}
 * measures servers in a process of their own ({@link ServerMain}), while {@link StageLoad} has them
 * stage for many peers.
 */
package dev.sluice.benchmarks.stage;
