package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.blocks.wire.TableSegment;
import java.io.IOException;

/**
 * The segments of one shuffle's partition tables, in its memory. With the lock of its {@link
 * RegisteredShuffle}.
 */
final class TableSegments {
  private final ShuffleMemory memory;

  /** Slots that were given. */
  private int used;

  /** The slot that is next; null where another segment is needed. */
  private TableSlot next;

  /** Of the segment that is made then. */
  private int nextSlots;

  /** Fewer than of a segment for which there was no memory, whatever the budget says. */
  private int maxSlots = TableSegment.MAX_SLOTS;

  TableSegments(ShuffleMemory memory) {
    this.memory = memory;
  }

  /** What a map output will take: {@link #next}, and its data. */
  Cost nextCost(int partitions, Cost data) {
    if (hasNext(partitions)) {
      return data;
    }
    nextSlots = slots(partitions, data);
    return data.plus(memory.tableCost(TableSegment.bytes(nextSlots, partitions)));
  }

  /** A slot; the next one has the same unless this one is {@linkplain #keep kept}. */
  TableSlot next(int partitions) throws IOException {
    if (!hasNext(partitions)) {
      ShuffleMemory.Table table = table(TableSegment.bytes(nextSlots, partitions));
      TableSegment segment = new TableSegment(table.remote(), nextSlots);
      next = new TableSlot(memory, table.memory(), segment, 0);
    }
    return next;
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

  /** Fewer where there is no room for so many beside the data. */
  private int slots(int partitions, Cost data) {
    int slots = Math.min(maxSlots, TableSegment.nextSlots(used, partitions));
    while (slots > 1 && !memory.hasRoom(TableSegment.bytes(slots, partitions), data)) {
      slots /= 2;
    }
    return slots;
  }
}
