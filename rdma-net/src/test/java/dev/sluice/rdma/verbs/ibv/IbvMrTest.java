package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.VerbsException.EFAULT;
import static dev.sluice.rdma.VerbsException.EINVAL;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory regions: what may be registered, and what may be done with it. */
@NeedsRdmaDevice
class IbvMrTest extends IbvTestCase {
  private static final int SEED = 22;

  private static IbvSendWrList read(Player client, Player server, int bytes) {
    return client.request(IbvWrOpcode.RDMA_READ, bytes).rdma(server.mr.address(), server.mr.rkey());
  }

  @Test
  void aRegionDescribesItsMemory() throws Exception {
    MemorySegment memory = allocate(PAGE_BYTES).asSlice(100, 1000);

    IbvMr mr = pd.regMr(memory, ALL_ACCESS);

    assertThat(mr.address()).isEqualTo(memory.address());
    assertThat(mr.length()).isEqualTo(1000);
    assertThat(mr.lkey()).isNotZero();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        IbvAccess.REMOTE_WRITE,
        IbvAccess.REMOTE_ATOMIC,
        IbvAccess.REMOTE_WRITE | IbvAccess.REMOTE_ATOMIC | IbvAccess.REMOTE_READ
      })
  void remoteWritesNeedLocalOnes(int access) {
    assertRefused(EINVAL, () -> pd.regMr(allocate(PAGE_BYTES), access));
  }

  @Test
  @SuppressWarnings("restricted")
  void memoryThatIsNotThereIsRefused() {
    MemorySegment nothing = MemorySegment.NULL.reinterpret(PAGE_BYTES);

    assertRefused(EFAULT, () -> pd.regMr(nothing, IbvAccess.LOCAL_WRITE));
  }

  @Test
  void memoryMayBeRegisteredManyTimes() throws Exception {
    MemorySegment memory = allocate(PAGE_BYTES);
    IbvMr first = pd.regMr(memory, ALL_ACCESS);
    IbvMr second = pd.regMr(memory, IbvAccess.REMOTE_READ);

    assertThat(second.rkey()).isNotEqualTo(first.rkey());
    first.close();
    second.close();
  }

  @Test
  void closingTwiceDoesNothing() throws Exception {
    IbvMr mr = pd.regMr(allocate(PAGE_BYTES), IbvAccess.LOCAL_WRITE);
    mr.close();
    mr.close();

    assertThat(mr.isClosed()).isTrue();
  }

  @Test
  void aReadOnlyFileIsReadableForPeers(@TempDir Path directory) throws Exception {
    byte[] contents = "as map outputs are".getBytes(US_ASCII);
    Path file = Files.write(directory.resolve("data"), contents);
    Player client = player(IbvQpType.RC);
    Player server = player(IbvQpType.RC);
    connected(client, server);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      MemorySegment mapped = channel.map(MapMode.READ_ONLY, 0, contents.length, arena);
      IbvMr mr = registerReadOnly(mapped);

      client.succeed(
          client.request(IbvWrOpcode.RDMA_READ, contents.length).rdma(mr.address(), mr.rkey()));

      assertThat(
              client.memory.asSlice(0, contents.length).mismatch(MemorySegment.ofArray(contents)))
          .isEqualTo(-1);
    }
  }

  private IbvMr registerReadOnly(MemorySegment mapped) throws VerbsException {
    try {
      return pd.regMr(mapped, IbvAccess.REMOTE_READ);
    } catch (VerbsException e) {
      assumeThat(e.errno()).as("kernels before 6.2 pin pages for writing").isNotEqualTo(EFAULT);
      throw e;
    }
  }

  @Test
  void aRegionWithAnotherAddressForPeersIsReadThere() throws Exception {
    Player client = player(IbvQpType.RC);
    Player server = player(IbvQpType.RC).fill(SEED);
    connected(client, server);
    long iova = 0x7_0000_0000L + server.memory.address() % PAGE_BYTES;
    IbvMr elsewhere = pd.regMr(server.memory, iova, ALL_ACCESS);

    client.succeed(client.request(IbvWrOpcode.RDMA_READ, 5000).rdma(iova + 7, elsewhere.rkey()));

    client.assertHolds(SEED, 7, 0, 5000);
  }

  @Test
  void aRegionFromZeroIsReadFromZero() throws Exception {
    Player client = player(IbvQpType.RC);
    Player server = player(IbvQpType.RC).fill(SEED);
    connected(client, server);
    IbvMr fromZero = pd.regMr(server.memory, 0, ALL_ACCESS);

    client.succeed(client.request(IbvWrOpcode.RDMA_READ, 5000).rdma(11, fromZero.rkey()));

    client.assertHolds(SEED, 11, 0, 5000);
  }

  @Test
  void aZeroBasedRegionIsReadFromZero() throws Exception {
    Player client = player(IbvQpType.RC);
    Player server = player(IbvQpType.RC).fill(SEED);
    connected(client, server);
    IbvMr zeroBased =
        unlessUnsupported(() -> pd.regMr(server.memory, ALL_ACCESS | IbvAccess.ZERO_BASED));

    Completion completion =
        client.complete(client.request(IbvWrOpcode.RDMA_READ, 5000).rdma(11, zeroBased.rkey()));

    assumeThat(completion.status())
        .as("rxe of kernel 6.1 takes the flag and ignores it")
        .isNotEqualTo(IbvWcStatus.REM_ACCESS_ERR);
    assertThat(completion.status()).isEqualTo(IbvWcStatus.SUCCESS);

    client.assertHolds(SEED, 11, 0, 5000);
  }

  @Test
  void relaxedOrderingIsAHintThatAnyDeviceTakes() throws Exception {
    Player client = player(IbvQpType.RC);
    Player server =
        player(
            pd,
            IbvQpInitAttr.of(IbvQpType.RC, context.createCq(16), CAP),
            allocate(MEMORY_BYTES),
            ALL_ACCESS | IbvAccess.RELAXED_ORDERING);
    connected(client, server.fill(SEED));

    client.succeed(read(client, server, 5000));

    client.assertHolds(SEED, 5000);
  }
}
