// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.benchmarks.CpuTime;
import dev.sluice.benchmarks.Pairs;
import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.RegistryCounter;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Measures the CPU time of a server for a map output: registering and deregistering its file
 * against copying its bytes into registered memory. {@link StageCommand} calls it on its thread.
 * Nothing else may run in the process meanwhile, as the CPU time is that of all its Java threads.
 *
 * @param provider provider that registers, as in names of rows
 */
record RegisterVersusCopy(ProtectionDomain domain, String provider, int rounds) {
  private static final int[] SIZES_MIB = {1, 16, 256};
  private static final int PARTITIONS = 64;

  /**
   * Total size of the map outputs in a round. Where the kernel counts CPU time in ticks, a single
   * map output may take none.
   */
  private static final int ROUND_MIB = 256;

  /** Number of rounds that do not count. */
  private static final int WARM_UP = 2;

  /** Bytes of a copy: those of the largest staging request. */
  private static final int COPIED_BYTES = 1 << 20;

  private static final long[] MAP_ID = {0};
  private static final RegistryLimits LIMITS = new RegistryLimits(1L << 34, 10_000, 60_000);

  void measure(Path directory, Pairs pairs) throws IOException {
    for (int mib : SIZES_MIB) {
      Path folder = Files.createDirectories(directory.resolve(mib + "MiB"));
      SampleOutputs outputs = new SampleOutputs(folder, 1, PARTITIONS, (mib << 20) / PARTITIONS);
      outputs.write();
      String row = "stage-register-%s-%dMiB".formatted(provider, mib);
      measure(outputs, false, ROUND_MIB / mib, row, pairs);
      if (outputs.canBeCold()) {
        measure(outputs, true, ROUND_MIB / mib, row + "-cold", pairs);
      } else {
        System.err.println(row + "-cold is skipped: files in " + folder + " stay in memory");
      }
    }
  }

  private void measure(SampleOutputs outputs, boolean cold, int times, String row, Pairs pairs)
      throws IOException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment target = arena.allocate(COPIED_BYTES, 4096);
      try (MapOutputRegistry registry = registry(outputs);
          MemoryRegion _ = domain.register(target, Set.of(AccessFlag.REMOTE_READ))) {
        for (int round = 0; round < WARM_UP + rounds; round++) {
          long registered = 0;
          long copied = 0;
          for (int i = 0; i < times; i++) {
            int shuffle = round * times + i;
            outputs.cache(cold);
            registered += CpuTime.ofThreads(() -> register(registry, shuffle));
            outputs.cache(cold);
            copied += CpuTime.ofThreads(() -> copy(outputs.path(0, "data"), target));
          }
          if (round >= WARM_UP) {
            pairs.less(row, "us", registered / 1e3 / times, "copy", copied / 1e3 / times);
          }
        }
      }
    }
  }

  private MapOutputRegistry registry(SampleOutputs outputs) throws IOException {
    return new MapOutputRegistry(
        domain,
        LocalDirectories.probe(domain, RegistrationMode.AUTO, List.of(outputs.directory())),
        outputs,
        LIMITS,
        MapOutputListener.NONE,
        () -> System.nanoTime() / 1_000_000);
  }

  private static void register(MapOutputRegistry registry, int shuffle) {
    MapOutputLocation location = registry.resolve(shuffle, MAP_ID).join().getFirst();
    if (location == null || registry.counters().get(RegistryCounter.STAGED_OUTPUTS) > 0) {
      throw new IllegalStateException("a map output of shuffle " + shuffle + " was not registered");
    }
    registry.unregister(shuffle);
  }

  private static void copy(Path data, MemorySegment target) throws IOException {
    ByteBuffer bytes = target.asByteBuffer();
    try (FileChannel channel = FileChannel.open(data)) {
      while (channel.read(bytes.clear()) >= 0) {}
    }
  }
}
