// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.transport;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.RemoteRegion;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;

/**
 * A peer's staging memory. The bytes of a lease are overwritten when it has been returned or has
 * run out, so that a later READ has other bytes.
 */
public final class FakeStager {
  /** Address where its memory begins. Memory of map outputs is below. */
  public static final long FIRST_ADDRESS = 1L << 40;

  /** Bytes of a lease and its end, by the lease's id. */
  private record Lease(byte[] bytes, long endNanos) {}

  private final FakeTransport transport;
  private final LongFunction<MapOutput> outputs;
  private final LongSupplier nanoClock;
  private final Map<Long, Lease> leases = new LinkedHashMap<>();
  private UnaryOperator<Object> answers = UnaryOperator.identity();
  private UnaryOperator<long[]> tables = UnaryOperator.identity();
  private long tookNanos;
  private long leaseNanos = 5_000_000_000L;
  private long nextAddress = FIRST_ADDRESS;
  private long nextId = 1000;

  /**
   * @param outputs map outputs by their map ids
   */
  public FakeStager(
      FakeTransport transport, LongFunction<MapOutput> outputs, LongSupplier nanoClock) {
    this.transport = transport;
    this.outputs = outputs;
    this.nanoClock = nanoClock;
  }

  /** Sets the time that its answers claim to have taken. */
  public void took(long nanos) {
    tookNanos = nanos;
  }

  public void leases(long nanos) {
    leaseNanos = nanos;
  }

  /** Sets a function that changes the answers, or throws in their place. */
  public void answers(UnaryOperator<Object> newAnswers) {
    answers = newAnswers;
  }

  /** Sets a function that changes the tables of blocks before the copy is made. */
  public void tables(UnaryOperator<long[]> newTables) {
    tables = newTables;
  }

  /** Makes some answers late, refusals or missing from now on. */
  public void misbehave(Random random) {
    UnaryOperator<Object> refusing = refusing(random);
    answers =
        answer -> {
          leaseNanos = random.nextLong(1_000_000_000L, 10_000_000_000L);
          return refusing.apply(answer);
        };
    int missing = random.nextInt(10);
    tables =
        table ->
            random.nextInt(100) >= missing
                ? table
                : random.nextBoolean() ? Staged.STALE : Staged.UNREADABLE;
  }

  private static UnaryOperator<Object> refusing(Random random) {
    int refused = random.nextInt(30);
    return answer ->
        switch (random.nextInt(100) < refused ? random.nextInt(4) : 4) {
          case 0 -> new NotStaged(true, "no such map output");
          case 1 -> new NotStaged(false, "no memory");
          case 2 -> null;
          case 3 -> throw new IllegalStateException("connection closed");
          default -> answer;
        };
  }

  /** Returns the ids of all leases that were answered. */
  public List<Long> leaseIds() {
    return List.copyOf(leases.keySet());
  }

  public Object stage(Stage request) {
    ByteArrayOutputStream copy = new ByteArrayOutputStream();
    List<long[]> answered = new ArrayList<>();
    boolean verifiable = true;
    boolean fits = true;
    for (Partitions wanted : request.wanted()) {
      MapOutput output = outputs.apply(wanted.mapId());
      long[] table =
          tables.apply(output == null ? Staged.STALE : output.table(wanted.start(), wanted.end()));
      answered.add(request.position() == 0 ? table : summed(table));
      if (Staged.isTable(table)) {
        byte[] block = output.bytes(wanted.start(), wanted.end());
        int from = (int) Math.min(request.position(), block.length);
        int room = request.maxBytes() - copy.size();
        int length = block.length - from;
        int part = request.wanted().size() == 1 ? Math.min(room, length) : length;
        fits &= part <= room;
        if (fits && part > 0) {
          copy.write(block, from, part);
          verifiable &= output.algorithm() != ChecksumAlgorithm.NONE;
        }
      }
    }
    return answer(copy.toByteArray(), verifiable, answered);
  }

  /** A table with one entry for all partitions, as a stager answers for a further part. */
  private static long[] summed(long[] table) {
    if (!Staged.isTable(table)) {
      return table;
    }
    int at = MapOutputHeader.LONGS;
    long[] sum = TableEntry.sum(Arrays.copyOfRange(table, at, table.length));
    return LongStream.concat(Arrays.stream(table, 0, at), Arrays.stream(sum)).toArray();
  }

  private Object answer(byte[] bytes, boolean verifiable, List<long[]> answered) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    RemoteRegion region = new RemoteRegion(nextAddress, bytes.length, 7);
    long checksum = verifiable ? Staged.NO_CHECKSUM : crc.getValue();
    Object answer =
        answers.apply(new Staged(nextId, region, tookNanos, leaseNanos, checksum, answered));
    if (answer instanceof Staged && bytes.length > 0) {
      transport.map(nextAddress, bytes);
      leases.put(nextId, new Lease(bytes, nanoClock.getAsLong() + leaseNanos));
      nextAddress += 1 << 30;
      nextId++;
    }
    return answer;
  }

  public void done(long leaseId) {
    overwrite(leases.get(leaseId));
  }

  public void expire() {
    leases.values().stream()
        .filter(lease -> lease.endNanos() - nanoClock.getAsLong() <= 0)
        .forEach(FakeStager::overwrite);
  }

  private static void overwrite(Lease lease) {
    Arrays.fill(lease.bytes(), (byte) 0x5a);
  }
}
