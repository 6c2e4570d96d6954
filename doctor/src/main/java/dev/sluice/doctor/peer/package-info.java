/**
 * READs from the doctor of another node, by the transfer engine of the shuffle.
 *
 * <p>{@link PeerServer} registers memory and answers {@link Question}s by TCP. {@link PeerCheck} is
 * the check that READs it. Its {@link PeerReader} connects by a {@link PeerClient}, verifies and
 * measures the READs with {@link Reading}, and judges them by the {@link LinkRate}. When READs
 * fail, {@link Echo} tells in which direction packets are lost.
 */
package dev.sluice.doctor.peer;
