/**
 * Server side of the control channel. It serves peers that READ map outputs from this process.
 *
 * <p>{@link dev.sluice.blocks.server.BlockServer} is the entry point: it listens on Spark's
 * transport. A new connection is guarded by {@link dev.sluice.blocks.server.FirstMessageGuard}
 * until its first message. A handler then decodes each message and passes it on: queue pairs come
 * from the transfer engine's acceptor, locations from the {@link
 * dev.sluice.blocks.MapOutputRegistry}, and parts of partition tables from the table server.
 *
 * <p>Map outputs that are not registered are staged: {@link dev.sluice.blocks.server.Stager} admits
 * a request, copies its pieces into registered memory, and answers with a lease.
 *
 * <p>No block is sent over this channel: the peer READs it, or fetches it by Spark's own transfer.
 */
package dev.sluice.blocks.server;
