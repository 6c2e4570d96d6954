// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvMr;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests to an adapter that make it fast, and their replacements on adapters that lack them. */
class TuningTest extends FakeAdaptersTestCase {
  private static TransferOptions options() {
    return TransferOptions.DEFAULT.with(
        o -> {
          o.bufferPoolBytes = 1 << 20;
          o.spinMicros = 0; // so that each READ wakes up the thread
        });
  }

  /** Taking an event that does not exist would cost an exception with a stack trace per wake-up. */
  @Test
  void noEventIsTakenThatIsNotThere() throws Exception {
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open(), options())) {
      loopback.read().assertSucceeds();
      adapters.set(0, "hold", 1);
      for (int i = 0; i < 20; i++) {
        long posted = loopback.posted();
        LoopbackEndpoint.Answer answer = loopback.read();
        await("it is posted, and the thread asleep", () -> loopback.posted() > posted);
        adapters.release();
        answer.done().get(30, TimeUnit.SECONDS);
        answer.buffer().release();
      }
      await("all are taken", () -> adapters.get(0, "get_cq_event") >= adapters.get(0, "cq_events"));
      assertThat(adapters.get(0, "cq_events")).isPositive();
      assertThat(adapters.get(0, "get_cq_event")).isEqualTo(adapters.get(0, "cq_events"));
    }
  }

  @Test
  void processesAreWokenUpByAllVectors() throws Exception {
    Set<Long> vectors = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      Device device = open();
      device.createCompletionQueue(1, device.createCompletionChannel());
      vectors.add(adapters.get(0, "vector"));
      device.close();
    }
    assertThat(vectors).hasSizeGreaterThan(1).allMatch(vector -> vector >= 0 && vector < 8);
  }

  @Test
  void regionsAskForRelaxedOrdering() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64);
      ProtectionDomain domain = open().allocateProtectionDomain();
      domain.register(memory, EnumSet.of(AccessFlag.LOCAL_WRITE)).close();
      assertThat(adapters.get(0, "last_access"))
          .isEqualTo(IbvMr.Access.LOCAL_WRITE | IbvMr.Access.RELAXED_ORDERING);
      domain.register(memory, EnumSet.of(AccessFlag.REMOTE_READ)).close();
      assertThat(adapters.get(0, "last_access"))
          .isEqualTo(IbvMr.Access.REMOTE_READ | IbvMr.Access.RELAXED_ORDERING);
      domain.register(memory, EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND)).close();
      assertThat(adapters.get(0, "last_access"))
          .isEqualTo(
              IbvMr.Access.REMOTE_READ | IbvMr.Access.ON_DEMAND | IbvMr.Access.RELAXED_ORDERING);

      adapters.set(0, "reg_mr_iova2_error", VerbsException.ENOSYS);
      domain.register(memory, EnumSet.of(AccessFlag.LOCAL_WRITE)).close();
      assertThat(adapters.get(0, "last_access")).isEqualTo(IbvMr.Access.LOCAL_WRITE);
      domain.register(memory, EnumSet.of(AccessFlag.REMOTE_READ)).close();
      assertThat(adapters.get(0, "last_access")).isEqualTo(IbvMr.Access.REMOTE_READ);
    }
  }

  /**
   * mlx5 counts units of 64 bytes: four by ibv_create_qp(3), one for a queue pair of READs alone.
   */
  @Test
  void aSendQueueHoldsAReadInEachUnitOfTheDevice() throws Exception {
    adapters.set(0, "max_send_wr", options().sendQueueDepth());
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open(), options())) {
      loopback.read().assertSucceeds();
    }
    assertThat(adapters.get(0, "create_qp")).isPositive();
    assertThat(adapters.get(0, "create_qp_refused")).isZero();
  }

  @Test
  void queuePairsForReadsAloneTakeLessMemory() throws Exception {
    long forReads = bytesOfQueuePairs();
    adapters = FakeAdapters.reset();
    adapters.set(0, "create_qp_ex_error", VerbsException.EOPNOTSUPP);
    long forAll = bytesOfQueuePairs();
    assertThat(forAll).isGreaterThanOrEqualTo(1024 * (256 * 256));
    assertThat((double) forReads / forAll).isLessThanOrEqualTo(0.40);
  }

  private long bytesOfQueuePairs() throws IOException {
    try (Device device = open()) {
      CompletionQueue completions =
          device.createCompletionQueue(1024, device.createCompletionChannel());
      ProtectionDomain domain = device.allocateProtectionDomain();
      for (int i = 0; i < 1024; i++) {
        domain.createQueuePair(completions, options().sendQueueDepth());
      }
      return adapters.get(0, "qp_bytes");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {VerbsException.EOPNOTSUPP, VerbsException.ENOSYS})
  void aDriverWithoutExtendedQueuePairsGivesPlainOnes(int errno) throws Exception {
    adapters.set(0, "create_qp_ex_error", errno);
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open(), options())) {
      loopback.read().assertSucceeds();
    }
  }

  @Test
  void theVendorsErrorIsReported() throws Exception {
    adapters.set(0, "vendor_error", 0x88);
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open(), options());
        LogCapture log =
            new LogCapture(Class.forName("dev.sluice.rdma.transfer.Recovery"), Level.INFO)) {
      loopback.read("self", 4095).assertFails(ReadException.Cause.STALE_LOCATION, "refused");
      assertThat(log.messages())
          .singleElement()
          .asString()
          .endsWith("REM_ACCESS_ERR, vendor error 0x88");
    }
  }

  /**
   * Executors spread over the ports that the configuration names. Otherwise all executors of a node
   * might share one.
   */
  @Test
  void portsAreTakenInTurn() throws Exception {
    VerbsOptions spreading = VerbsOptions.DEFAULT.with(o -> o.spreads = true);
    Set<String> taken = new HashSet<>();
    for (int i = 0; i < 4; i++) {
      taken.add(open(spreading).name());
    }
    assertThat(taken).containsExactlyInAnyOrder("mlx5_0", "mlx5_1");
  }

  @Test
  void portsOnTheNodeOfTheProcessAreTaken() throws Exception {
    write("sys/devices/system/node/node0/cpulist", "0-3");
    write("sys/devices/system/node/node1/cpulist", "4-7");
    write("sys/class/infiniband/mlx5_0/device/numa_node", "0");
    write("sys/class/infiniband/mlx5_1/device/numa_node", "1");
    write("proc/self/status", "Name:\tjava\nCpus_allowed_list:\t4-7\n");
    VerbsOptions spreading = VerbsOptions.DEFAULT.with(o -> o.spreads = true);
    assertThat(List.of(open(spreading).name(), open(spreading).name())).containsOnly("mlx5_1");
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }
}
