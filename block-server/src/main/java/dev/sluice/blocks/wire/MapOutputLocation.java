// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

/**
 * Location of a map output's entries in a partition table: some 30 bytes, whatever the number of
 * partitions.
 *
 * @param mapId the map task attempt's id, unique in the application (not the map index)
 * @param segment memory with the partition table
 * @param slot the map output's slot in the segment
 */
public record MapOutputLocation(long mapId, TableSegment segment, int slot) {}
