// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.blocks.wire.TableSegment;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Segments of a shuffle's partition tables. The {@link ShuffleOutputs} creates it with the
 * shuffle's memory, and calls it with its lock held: {@link #nextCost}, then {@link #next}, then
 * {@link #keep} after success. The memory belongs to {@link ShuffleMemory}.
 */
final class TableSegments {
  private final ShuffleMemory memory;

  /** Number of slots that were kept. */
  private int used;

  /** Next free slot; null if a new segment is needed. */
  private @Nullable TableSlot next;

  /** Number of slots of the next segment. */
  private int nextSlots;

  /** Maximum of {@link #nextSlots}. Halves when there was no memory, whatever the budget says. */
  private int maxSlots = TableSegment.MAX_SLOTS;

  TableSegments(ShuffleMemory memory) {
    this.memory = memory;
  }

  /** Returns the cost of a map output's slot and data. Called before {@link #next}. */
  Cost nextCost(int partitions, Cost data) {
    if (hasNext(partitions)) {
      return data;
    }
    nextSlots = slots(partitions, data);
    return data.plus(memory.tableCost(TableSegment.bytes(nextSlots, partitions)));
  }

  /** Returns a free slot; the same one again unless it is {@linkplain #keep kept}. */
  TableSlot next(int partitions) throws IOException {
    TableSlot free = next;
    if (free == null || free.partitions() != partitions) {
      ShuffleMemory.Table table = table(TableSegment.bytes(nextSlots, partitions));
      TableSegment segment = new TableSegment(table.remote(), nextSlots);
      free = new TableSlot(memory, table.memory(), segment, 0);
      next = free;
    }
    return free;
  }

  private ShuffleMemory.Table table(long bytes) throws IOException {
    try {
      return memory.table(bytes);
    } catch (IOException | Error e) {
      maxSlots = Math.max(1, nextSlots / 2);
      throw e;
    }
  }

  void keep(TableSlot slot) {
    used++;
    boolean isLast = slot.slot() + 1 == slot.segment().slots();
    next = isLast ? null : new TableSlot(memory, slot.memory(), slot.segment(), slot.slot() + 1);
  }

  private boolean hasNext(int partitions) {
    return next != null && next.partitions() == partitions;
  }

  /** Returns fewer slots if there is no room for all of them together with the data. */
  private int slots(int partitions, Cost data) {
    return TableSegment.slotsThatFit(
        Math.min(maxSlots, TableSegment.nextSlots(used, partitions)),
        partitions,
        bytes -> memory.hasRoom(bytes, data));
  }
}
