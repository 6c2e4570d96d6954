/**
 * Map outputs of a process as memory regions that peers can READ. The same code runs in an executor
 * and in the node daemon.
 *
 * <p>Each package below uses only those named before it:
 *
 * <ul>
 *   <li>{@link dev.sluice.blocks.wire}: the messages, and the layout of a partition table.
 *   <li>{@link dev.sluice.blocks.directory}: how files of a local directory register, and how many
 *       bytes may be registered.
 *   <li>{@link dev.sluice.blocks.registry}: map outputs by shuffle, registered or to be staged.
 *   <li>{@link dev.sluice.blocks.staging}: copies of map outputs that are not registered.
 *   <li>{@link dev.sluice.blocks.server}: answers the questions of peers.
 * </ul>
 *
 * <p>{@link dev.sluice.blocks.client} asks the block servers of peers. It knows them by their
 * messages alone. {@link dev.sluice.blocks.handover} is an executor's side of the node daemon, and
 * {@link dev.sluice.blocks.conf} has the settings of both processes.
 *
 * <p>An executor's runtime and the node daemon open the parts in this order. {@link StartedParts}
 * closes them in reverse.
 */
package dev.sluice.blocks;
