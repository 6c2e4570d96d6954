/**
 * Server side of the control channel. It serves peers that READ map outputs from this process.
 *
 * <p>{@link dev.sluice.blocks.server.BlockServer} is the entry point: it listens on Spark's
 * transport. A new connection is guarded by {@link dev.sluice.blocks.server.FirstMessageGuard}
 * until its first message. A handler then decodes each message and passes it on: queue pairs come
 * from the transfer engine's acceptor, and locations from the {@link
 * dev.sluice.blocks.registry.MapOutputRegistry}.
 *
 * <p>Map outputs that are not registered are staged: {@link dev.sluice.blocks.staging.Stager} reads
 * the tables of the wanted blocks, admits the request, copies the blocks that fit into registered
 * memory, and answers with lengths, checksums and a lease.
 *
 * <p>No block is sent over this channel: the peer READs it, or fetches it by Spark's own transfer.
 */
package dev.sluice.blocks.server;
