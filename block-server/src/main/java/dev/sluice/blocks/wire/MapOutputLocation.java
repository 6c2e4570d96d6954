// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

/**
 * Place where readers find the partition table of a map output: a slot in a segment. A staged map
 * output has an unregistered segment ({@link TableSegment#isRegistered} is false) and slot 0. A
 * reader then asks the server for the table and must not READ it. A block server answers {@link
 * ControlMessages.Resolve} with it, and an executor's publisher sends it to the driver's directory.
 * A reader passes it to its table reader, on any thread.
 *
 * <p>Immutable. It is stale once the map output is deregistered or its server has ended: a READ by
 * it then fails, or finds a cleared header. The reader then drops it and asks again. It takes 30
 * bytes on the wire, whatever the number of partitions.
 *
 * @param mapId the map task attempt's id, unique in the application (not the map index)
 * @param segment address of the memory with the partition table; no memory for a staged map output
 * @param slot the map output's slot in the segment
 */
public record MapOutputLocation(long mapId, TableSegment segment, int slot) {}
