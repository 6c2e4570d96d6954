package dev.sluice.blocks.node;

import dev.sluice.rdma.transfer.PeerAddress;

/**
 * Where the peers of one application find a node's block server.
 *
 * @param peer its id is another one each time that the block server starts
 * @param provider of its device
 */
public record NodeEndpoint(PeerAddress peer, String provider) {}
