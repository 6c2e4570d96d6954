// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EFAULT;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
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

/** Memory regions: allowed registrations, and operations on a region. */
@NeedsRdmaDevice
class IbvMrTest extends IbvTestCase {
  private static final int SEED = 22;

  private static IbvSendWrList read(Player client, Player server, int bytes) {
    return client
        .request(IbvSendWrList.Opcode.RDMA_READ, bytes)
        .rdma(server.mr.address(), server.mr.rkey());
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
        IbvMr.Access.REMOTE_WRITE,
        IbvMr.Access.REMOTE_ATOMIC,
        IbvMr.Access.REMOTE_WRITE | IbvMr.Access.REMOTE_ATOMIC | IbvMr.Access.REMOTE_READ
      })
  void remoteWritesNeedLocalOnes(int access) {
    assertRefused(EINVAL, () -> pd.regMr(allocate(PAGE_BYTES), access));
  }

  @Test
  @SuppressWarnings("restricted")
  void memoryThatIsNotThereIsRefused() {
    MemorySegment nothing = MemorySegment.NULL.reinterpret(PAGE_BYTES);

    assertRefused(EFAULT, () -> pd.regMr(nothing, IbvMr.Access.LOCAL_WRITE));
  }

  @Test
  void memoryMayBeRegisteredManyTimes() throws Exception {
    MemorySegment memory = allocate(PAGE_BYTES);
    IbvMr first = pd.regMr(memory, ALL_ACCESS);
    IbvMr second = pd.regMr(memory, IbvMr.Access.REMOTE_READ);

    assertThat(second.rkey()).isNotEqualTo(first.rkey());
    first.close();
    second.close();
  }

  @Test
  void closingTwiceDoesNothing() throws Exception {
    IbvMr mr = pd.regMr(allocate(PAGE_BYTES), IbvMr.Access.LOCAL_WRITE);
    mr.close();
    mr.close();

    assertThat(mr.isClosed()).isTrue();
    assertRefused(EINVAL, () -> mr.rereg(IbvMr.Rereg.CHANGE_ACCESS, null, null, 0));
  }

  @Test
  void aReadOnlyFileIsReadableForPeers(@TempDir Path directory) throws Exception {
    byte[] contents = "as map outputs are".getBytes(US_ASCII);
    Path file = Files.write(directory.resolve("data"), contents);
    Player client = player(IbvQp.Type.RC);
    Player server = player(IbvQp.Type.RC);
    connected(client, server);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      MemorySegment mapped = channel.map(MapMode.READ_ONLY, 0, contents.length, arena);
      IbvMr mr = registerReadOnly(mapped);

      client.succeed(
          client
              .request(IbvSendWrList.Opcode.RDMA_READ, contents.length)
              .rdma(mr.address(), mr.rkey()));

      assertThat(
              client.memory.asSlice(0, contents.length).mismatch(MemorySegment.ofArray(contents)))
          .isEqualTo(-1);
    }
  }

  private IbvMr registerReadOnly(MemorySegment mapped) throws VerbsException {
    try {
      return pd.regMr(mapped, IbvMr.Access.REMOTE_READ);
    } catch (VerbsException e) {
      assumeThat(e.errno()).as("kernels before 6.2 pin pages for writing").isNotEqualTo(EFAULT);
      throw e;
    }
  }

  @Test
  void aRegionWithAnotherAddressForPeersIsReadThere() throws Exception {
    Player client = player(IbvQp.Type.RC);
    Player server = player(IbvQp.Type.RC).fill(SEED);
    connected(client, server);
    long iova = 0x7_0000_0000L + server.memory.address() % PAGE_BYTES;
    IbvMr elsewhere = pd.regMr(server.memory, iova, ALL_ACCESS);

    client.succeed(
        client.request(IbvSendWrList.Opcode.RDMA_READ, 5000).rdma(iova + 7, elsewhere.rkey()));

    client.assertHolds(SEED, 7, 0, 5000);
  }

  @Test
  void aRegionFromZeroIsReadFromZero() throws Exception {
    Player client = player(IbvQp.Type.RC);
    Player server = player(IbvQp.Type.RC).fill(SEED);
    connected(client, server);
    IbvMr fromZero = pd.regMr(server.memory, 0, ALL_ACCESS);

    client.succeed(client.request(IbvSendWrList.Opcode.RDMA_READ, 5000).rdma(11, fromZero.rkey()));

    client.assertHolds(SEED, 11, 0, 5000);
  }

  @Test
  void aZeroBasedRegionIsReadFromZero() throws Exception {
    Player client = player(IbvQp.Type.RC);
    Player server = player(IbvQp.Type.RC).fill(SEED);
    connected(client, server);
    IbvMr zeroBased =
        unlessUnsupported(() -> pd.regMr(server.memory, ALL_ACCESS | IbvMr.Access.ZERO_BASED));

    Completion completion =
        client.complete(
            client.request(IbvSendWrList.Opcode.RDMA_READ, 5000).rdma(11, zeroBased.rkey()));

    assumeThat(completion.status())
        .as("rxe of kernel 6.1 takes the flag and ignores it")
        .isNotEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);
    assertThat(completion.status()).isEqualTo(IbvWcArray.Status.SUCCESS);

    client.assertHolds(SEED, 11, 0, 5000);
  }

  @Test
  void relaxedOrderingIsAHintThatAnyDeviceTakes() throws Exception {
    Player client = player(IbvQp.Type.RC);
    Player server =
        player(
            pd,
            IbvQpInitAttr.of(IbvQp.Type.RC, context.createCq(16), CAP),
            allocate(MEMORY_BYTES),
            ALL_ACCESS | IbvMr.Access.RELAXED_ORDERING);
    connected(client, server.fill(SEED));

    client.succeed(read(client, server, 5000));

    client.assertHolds(SEED, 5000);
  }

  /**
   * Changes a region; libibverbs has a code of its own for each failure.
   *
   * @return null, for {@link #unlessUnsupported}
   */
  private static Void rereg(IbvMr mr, int flags, IbvPd domain, MemorySegment memory, int access)
      throws VerbsException {
    mr.rereg(flags, domain, memory, access);
    return null;
  }

  @Test
  void aChangeThatIsNotAllowedIsRefused() throws Exception {
    Player player = player(IbvQp.Type.RC);

    assertThatThrownBy(
            () -> player.mr.rereg(IbvMr.Rereg.CHANGE_ACCESS, null, null, IbvMr.Access.REMOTE_WRITE))
        .isInstanceOfSatisfying(
            VerbsException.class,
            e -> assertThat(e.errno()).isIn(EINVAL, VerbsException.EOPNOTSUPP));
  }

  @Test
  void accessThatWasTakenAwayIsMissedAndGivenBackWorks() throws Exception {
    Player client = player(IbvQp.Type.RC);
    Player server = player(IbvQp.Type.RC).fill(SEED);
    connected(client, server);
    int flags = IbvMr.Rereg.CHANGE_ACCESS;
    unlessUnsupported(() -> rereg(server.mr, flags, null, null, IbvMr.Access.LOCAL_WRITE));

    assertThat(client.complete(read(client, server, 100)).status())
        .isEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);

    server.mr.rereg(flags, null, null, ALL_ACCESS);
    reconnect(client, server);
    client.succeed(read(client, server, 100));
    client.assertHolds(SEED, 100);
  }

  @Test
  void aRegionOfAnotherDomainIsMissedAndBroughtBackWorks() throws Exception {
    Player client = player(IbvQp.Type.RC);
    Player server = player(IbvQp.Type.RC).fill(SEED);
    connected(client, server);
    IbvPd other = context.allocPd();
    unlessUnsupported(() -> rereg(server.mr, IbvMr.Rereg.CHANGE_PD, other, null, 0));

    assertThat(client.complete(read(client, server, 100)).status())
        .isEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);

    server.mr.rereg(IbvMr.Rereg.CHANGE_PD, pd, null, 0);
    other.close();
    reconnect(client, server);
    client.succeed(read(client, server, 100));
    client.assertHolds(SEED, 100);
  }

  @Test
  void memoryThatWasExchangedIsReadAtItsOwnAddressOnly() throws Exception {
    Player client = player(IbvQp.Type.RC);
    Player server = player(IbvQp.Type.RC);
    connected(client, server);
    MemorySegment other = allocate(MEMORY_BYTES).fill((byte) 9);
    long before = server.memory.address();
    unlessUnsupported(() -> rereg(server.mr, IbvMr.Rereg.CHANGE_TRANSLATION, null, other, 0));

    client.succeed(
        client
            .request(IbvSendWrList.Opcode.RDMA_READ, 100)
            .rdma(other.address(), server.mr.rkey()));
    assertThat(client.memory.asSlice(0, 100).mismatch(other.asSlice(0, 100))).isEqualTo(-1);
    assertThat(
            client
                .complete(
                    client
                        .request(IbvSendWrList.Opcode.RDMA_READ, 100)
                        .rdma(before, server.mr.rkey()))
                .status())
        .isEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);
  }

  private void reconnect(Player client, Player server) throws VerbsException {
    client.qp.modify(new IbvQpAttr().state(IbvQp.State.RESET));
    server.qp.modify(new IbvQpAttr().state(IbvQp.State.RESET));
    connected(client, server);
  }
}
