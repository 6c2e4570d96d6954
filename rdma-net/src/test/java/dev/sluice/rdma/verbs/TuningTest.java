package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.ibv.IbvAccess;
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

/** What an adapter is asked for so that it is fast, and what is done where it has less. */
class TuningTest extends FakeAdaptersTestCase {
  private static TransferOptions options() {
    return TransferOptions.DEFAULT.with(
        o -> {
          o.bufferPoolBytes = 1 << 20;
          o.spinMicros = 0; // so that each READ wakes the thread up
        });
  }

  /** One that is not there would be an exception with its stack trace, at each wake-up. */
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
  void whatReadsWriteMayComeInAnyOrder() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64);
      ProtectionDomain domain = open().allocateProtectionDomain();
      domain.register(memory, EnumSet.of(AccessFlag.LOCAL_WRITE)).close();
      assertThat(adapters.get(0, "last_access"))
          .isEqualTo(IbvAccess.LOCAL_WRITE | IbvAccess.RELAXED_ORDERING);
      domain.register(memory, EnumSet.of(AccessFlag.REMOTE_READ)).close();
      assertThat(adapters.get(0, "last_access")).isEqualTo(IbvAccess.REMOTE_READ);

      adapters.set(0, "reg_mr_iova2_error", VerbsException.ENOSYS);
      domain.register(memory, EnumSet.of(AccessFlag.LOCAL_WRITE)).close();
      assertThat(adapters.get(0, "last_access")).isEqualTo(IbvAccess.LOCAL_WRITE);
    }
  }

  /** As on mlx5, where each READ takes four units of what ibv_query_device(3) counts. */
  @Test
  void aSendQueueThatIsTooDeepIsCut() throws Exception {
    adapters.set(0, "max_send_wr", 100);
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open(), options())) {
      loopback.read().assertSucceeds();
      long refused = adapters.get(0, "create_qp");
      loopback.read("another", loopback.rkey()).assertSucceeds();
      assertThat(adapters.get(0, "create_qp"))
          .as("one each way, without another refusal")
          .isEqualTo(refused + 2);
    }
  }

  @Test
  void theVendorsErrorIsSaid() throws Exception {
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
   * As executors do over the ports that the configuration names: else all of a node may share one.
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
