// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import dev.sluice.rdma.transfer.PeerAddress;

/**
 * Address of a node daemon for the peers of one application.
 *
 * @param peer its id changes each time that the block server starts
 * @param provider provider of the node's device
 */
public record NodeEndpoint(PeerAddress peer, String provider) {}
