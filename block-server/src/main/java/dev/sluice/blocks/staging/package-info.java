/**
 * Copies map outputs that are not registered into registered memory, where peers READ them.
 *
 * <p>{@link Stager} is the entry point; the block server calls it for each STAGE message. {@link
 * StageQueue} admits a {@link StageRequest} when its turn comes, by peer and by lane ({@link
 * StageLanes}): a request that waits for a disk does not block requests whose bytes are in the page
 * cache. Threads read the tables of its {@link StagedBlocks}, and copy the blocks that fit. The
 * answer has lengths, checksums and a lease. {@link Leases} frees the memory when the reader is
 * done, has gone, or exceeds the lease.
 *
 * <p>Nothing here registers a map output; {@link dev.sluice.blocks.registry} reads their files.
 */
package dev.sluice.blocks.staging;
