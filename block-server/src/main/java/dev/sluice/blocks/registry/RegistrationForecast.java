// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.RegistrationBudget;
import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.blocks.directory.RegistrationBudget.NoRoomException;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.transfer.Counters;

/**
 * Forecast of the map outputs of one shuffle that an executor registers. It allocates nothing, and
 * counts by the budget, the segments and the slabs of a registration. Map outputs are equally
 * large, and nothing else is registered. The doctor asks for it on its main thread; immutable.
 *
 * @param outputs number of registered map outputs; the others are staged
 * @param cost bytes and regions of them and of their partition tables
 */
public record RegistrationForecast(int outputs, Cost cost) {
  /** Limit of a budget that has room for all. */
  public static final Cost UNLIMITED = new Cost(Long.MAX_VALUE, Integer.MAX_VALUE);

  /**
   * Map outputs of an executor.
   *
   * @param count number of them
   * @param bytes length of the data file of each
   */
  public record Outputs(int count, long bytes, int partitions, RegistrationMethod method) {}

  /**
   * Registers map outputs one after the other, until all are or one finds no room.
   *
   * @param limit most bytes and regions
   */
  public static RegistrationForecast of(Outputs outputs, Cost limit) {
    RegistrationBudget budget =
        new RegistrationBudget(limit, new Counters<>(RegistryCounter.class), () -> 0);
    TableSlabs slabs = new TableSlabs();
    Cost data = outputs.method.cost(outputs.bytes);
    Cost sum = Cost.NONE;
    int freeSlots = 0;
    for (int i = 0; i < outputs.count; i++) {
      Cost cost = data;
      if (freeSlots == 0) {
        freeSlots =
            TableSegment.slotsThatFit(
                TableSegment.nextSlots(i, outputs.partitions),
                outputs.partitions,
                bytes -> budget.fits(slabs.cost(bytes).plus(data), Cost.NONE));
        cost = data.plus(add(slabs, TableSegment.bytes(freeSlots, outputs.partitions)));
      }
      try {
        budget.reserve(cost);
      } catch (NoRoomException e) {
        return new RegistrationForecast(i, sum);
      }
      sum = sum.plus(cost);
      freeSlots--;
    }
    return new RegistrationForecast(outputs.count, sum);
  }

  /** Takes a segment from the slabs, and returns its cost. */
  private static Cost add(TableSlabs slabs, long bytes) {
    Cost cost = slabs.cost(bytes);
    if (!slabs.fits(bytes)) {
      slabs.add(slabs.newSlabBytes(bytes));
    }
    slabs.take(bytes);
    return cost;
  }
}
