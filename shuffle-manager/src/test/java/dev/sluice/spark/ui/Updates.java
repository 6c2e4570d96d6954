// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import dev.sluice.spark.ui.SluiceUpdate.Fallback;
import dev.sluice.spark.ui.SluiceUpdate.Memory;
import dev.sluice.spark.ui.SluiceUpdate.PeerFallback;
import dev.sluice.spark.ui.SluiceUpdate.Place;
import dev.sluice.spark.ui.SluiceUpdate.QueuePairs;
import dev.sluice.spark.ui.SluiceUpdate.Reads;
import dev.sluice.spark.ui.SluiceUpdate.SlowPeer;
import java.util.List;
import java.util.stream.IntStream;

/** Updates of an application with five executors, of which 3 is slow and 4 has another provider. */
final class Updates {
  static final long START = 1_800_000_000_000L;
  private static final long GIB = 1L << 30;
  private static final Reads USUAL = new Reads(400, 80, 320);
  private static final Reads SLOW = new Reads(40, 1_500, 90_000);

  private Updates() {}

  /** The update after so many seconds, without executors and peers. */
  static SluiceUpdate at(long seconds, Bytes bytes) {
    long time = START + 1_000 * seconds;
    return new SluiceUpdate(
        time, time - 1_000, bytes, List.of(), Reads.NONE, List.of(), List.of(), List.of());
  }

  static Bytes bytes(long registered) {
    return new Bytes(registered, 0, 0, 0);
  }

  /** The update of the whole application. */
  static SluiceUpdate application() {
    return new SluiceUpdate(
        START + 90_000,
        START + 80_000,
        new Bytes(12 * GIB, 3 * GIB, 4 * GIB, GIB),
        List.of(
            new Fallback("PEER", 700, GIB, "spark.shuffle.rdma.provider"),
            new Fallback("CHECKSUM", 1, 4_096, "")),
        new Reads(2_040, 80, 400),
        IntStream.range(0, 5).mapToObj(Updates::executor).toList(),
        List.of(
            new SlowPeer("executor 3 at host-3:4000", 4, GIB / 2, SLOW),
            new SlowPeer("executor 0 at host-0:4000", 3, 2 * GIB, USUAL)),
        List.of(
            new PeerFallback("executor 4 at host-4", "PEER", 600, "spark.shuffle.rdma.provider"),
            new PeerFallback("executor 1 at host-1", "CHECKSUM", 1, ""),
            new PeerFallback("all others", "", 1_100, "")));
  }

  /** The last row of an executor. */
  static Executor gone(int id) {
    Executor last = executor(id);
    return new Executor(
        last.id(),
        true,
        last.place(),
        last.bytes(),
        last.fallbacks(),
        last.memory(),
        last.queuePairs(),
        last.reads());
  }

  static Executor executor(int id) {
    Place place =
        id == 4
            ? new Place("soft", "soft0", "10.0.0.4", "host-4:4000", "there is no RDMA device")
            : new Place("verbs", "mlx5_0", "10.0.0." + id, "host-" + id + ":4000", "");
    return new Executor(
        String.valueOf(id),
        false,
        place,
        new Bytes(2 * GIB, GIB / 2, GIB, GIB / 4),
        List.of(new Fallback("PEER", 140, GIB / 4, "spark.shuffle.rdma.provider")),
        new Memory(3 * GIB, 4 * GIB, 1 << 20, 1 << 28, 0, 1 << 26),
        new QueuePairs(4, 4),
        id == 3 ? SLOW : USUAL);
  }
}
