/**
 * Partition tables: positions of blocks in map outputs that are located.
 *
 * <p>{@link BlockLocator} takes a {@link BlockList} of one executor. It asks the locator of {@link
 * dev.sluice.spark.locate} for map outputs, and collects their locations in {@link LocatedBlocks}.
 * These name the {@link TableSlice}s that are needed. {@link TableReader} fills the pieces: it
 * READs registered tables by {@link TableRead}, keeps their headers in a cache, and asks the peer
 * for other tables by {@link StagedTables}. Then {@code LocatedBlocks} knows offset, length and
 * checksum of each block, and divides the blocks into spans of {@link FileRange}s.
 *
 * <p>The bytes of blocks are READ in {@link dev.sluice.spark.fetch}.
 */
package dev.sluice.spark.table;
