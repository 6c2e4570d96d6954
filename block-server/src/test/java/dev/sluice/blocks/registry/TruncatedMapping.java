// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntBiFunction;

/**
 * Reads a map output while its file is truncated, long enough for the JIT compiler to compile all
 * code. Ends with status 0 if each copy and each stream was right or refused. A JVM that handles
 * the access badly is killed by the operating system.
 */
final class TruncatedMapping {
  private static final int SHUFFLE = 3;
  private static final int PARTITIONS = 400;
  private static final int ROUNDS = 300;

  private TruncatedMapping() {}

  public static void main(String[] args) throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(Path.of(args[0]));
    Random random = new Random(5);
    int[] lengths = random.ints(PARTITIONS, 8, 5000).toArray();
    for (int i = 0; i < PARTITIONS; i += 2) {
      lengths[i] = random.nextInt(8, 100); // the JDK copies short ones in another loop
    }
    byte[] data = outputs.write(SHUFFLE, 1, lengths);
    try (MapOutputRegistry registry =
        new MapOutputRegistry(
            new FakeProtectionDomain(),
            outputs.directories(),
            outputs::find,
            new RegistryLimits(1 << 24, 100, 1_000),
            new RecordingListener(),
            () -> 0)) {
      registry.resolve(SHUFFLE, new long[] {1}).get(10, TimeUnit.SECONDS);
      check(readable(registry, lengths, data), PARTITIONS);
      int size = data.length;
      for (int tenth = 7; tenth >= 0; tenth -= 7) {
        size = data.length / 10 * tenth;
        try (FileChannel file =
            FileChannel.open(outputs.data(SHUFFLE, 1), StandardOpenOption.WRITE)) {
          file.truncate(size);
        }
        check(readable(registry, lengths, data), whole(lengths, size));
      }
    }
  }

  /** Returns the number of partitions that end within a number of bytes. */
  private static int whole(int[] lengths, int size) {
    int partition = 0;
    int end = 0;
    while (partition < lengths.length && end + lengths[partition] <= size) {
      end += lengths[partition++];
    }
    return partition;
  }

  /** Returns the number of partitions that can be copied and streamed; checks their bytes. */
  private static int readable(MapOutputRegistry registry, int[] lengths, byte[] data) {
    MapOutputReader reader = registry.reader(SHUFFLE);
    int copied = readable(lengths, data, (p, target) -> reader.copy(1, p, p + 1, target, 0));
    check(readable(lengths, data, (p, target) -> stream(registry, p, target)), copied);
    return copied;
  }

  private static int stream(MapOutputRegistry registry, int partition, byte[] target) {
    try (RegisteredInputStream stream = registry.open(SHUFFLE, 1, partition, partition + 1)) {
      return stream.readNBytes(target, 0, target.length);
    } catch (IOException e) {
      checkNotFatal(e);
      return MapOutputReader.UNREADABLE;
    }
  }

  /** Spark ends an executor if a task fails with such a cause (Executor#isFatalError). */
  private static void checkNotFatal(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof VirtualMachineError) {
        throw new AssertionError("the failure of a file would end the executor", failure);
      }
    }
  }

  private static int readable(
      int[] lengths, byte[] data, ToIntBiFunction<Integer, byte[]> readsPartition) {
    byte[] target = new byte[5000];
    int readable = 0;
    for (int round = 0; round < ROUNDS; round++) {
      readable = 0;
      int start = 0;
      for (int partition = 0; partition < lengths.length; partition++) {
        int end = start + lengths[partition];
        int bytes = readsPartition.applyAsInt(partition, target);
        if (bytes != MapOutputReader.UNREADABLE) {
          readable++;
          if (!Arrays.equals(target, 0, bytes, data, start, end)) {
            throw new AssertionError("partition " + partition + " has wrong bytes");
          }
        }
        start = end;
      }
    }
    return readable;
  }

  private static void check(int readable, int expected) {
    if (readable != expected) {
      throw new AssertionError(readable + " partitions were read, not " + expected);
    }
  }
}
