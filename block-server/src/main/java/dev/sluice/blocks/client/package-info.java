/**
 * The side of the control plane that asks: {@link dev.sluice.blocks.client.BlockServerClient} has a
 * connection to the block server of each peer, and knows which of them are to be left alone.
 */
package dev.sluice.blocks.client;
