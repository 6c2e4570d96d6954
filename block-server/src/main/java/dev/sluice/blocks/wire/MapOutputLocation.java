package dev.sluice.blocks.wire;

/**
 * Where to READ what there is to know of a map output: some 30 bytes, whatever the number of
 * partitions.
 *
 * @param mapId the map task attempt's id, unique in the application (not the map index)
 * @param segment with its partition table
 * @param slot of that segment
 */
public record MapOutputLocation(long mapId, TableSegment segment, int slot) {}
