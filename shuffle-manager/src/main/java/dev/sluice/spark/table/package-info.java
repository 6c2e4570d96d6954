/**
 * Partition tables: positions of blocks in map outputs that are located.
 *
 * <p>{@link BlockLocator} takes a {@link BlockList} of one executor. It asks the locator of {@link
 * dev.sluice.spark.locate} for map outputs, and collects their locations in {@link LocatedBlocks}.
 * These name the {@link TableSlice}s that are needed. {@link TableReader} fills them: it READs
 * registered tables by {@link TableRead} and keeps their headers in a cache. Then {@code
 * LocatedBlocks} knows offset, length and checksum of each registered block. Those of other blocks
 * come with the peer's answer to a request to stage them. {@link Span}s of both are READ, one
 * request each.
 *
 * <p>The bytes of blocks are READ in {@link dev.sluice.spark.fetch}.
 */
package dev.sluice.spark.table;
