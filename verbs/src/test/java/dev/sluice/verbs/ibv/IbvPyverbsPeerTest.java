// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The binding talks to pyverbs, rdma-core's own binding, in another process. */
@NeedsRdmaDevice
class IbvPyverbsPeerTest extends IbvTestCase {
  private static final int SEED = 28;
  private static final int BYTES = 800;
  private static final int GRH_BYTES = 40;
  private static final String SUCCESS = Integer.toString(IbvWcArray.Status.SUCCESS.value());

  @TempDir private Path directory;

  @BeforeEach
  void findPyverbs() throws Exception {
    assumeThat(PyverbsPeer.isInstalled()).as("python3-pyverbs is installed").isTrue();
  }

  private PyverbsPeer peer(IbvQp.Type type) throws Exception {
    return new PyverbsPeer(
        directory,
        context.device().name(),
        gid,
        type.toString().toLowerCase(Locale.ROOT),
        MEMORY_BYTES);
  }

  private Player connected(IbvQp.Type type, PyverbsPeer peer) throws Exception {
    Player player = player(type);
    new Connection(gid).connect(player.qp, peer.qpNum);
    assertThat(peer.tell("connect", player.qp.qpNum())).isEqualTo("connected");
    return player.fill(SEED);
  }

  private static String hex(Player player, long offset, int length) {
    return HexFormat.of().formatHex(player.memory.asSlice(offset, length).toArray(JAVA_BYTE));
  }

  /** Returns a SEND to the peer; datagrams need an address. */
  private IbvSendWrList send(Player player, PyverbsPeer peer) throws VerbsException {
    IbvSendWrList request =
        player.request(IbvSendWrList.Opcode.SEND_WITH_IMM, BYTES).immediate(4711);
    return player.qp.type().is(IbvQp.Type.UD)
        ? request.datagram(pd.createAh(new Connection(gid).address()), peer.qpNum, QKEY)
        : request;
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQp.Type.class,
      names = {"RC", "UC", "UD"})
  void messagesGoBothWays(IbvQp.Type type) throws Exception {
    int header = type == IbvQp.Type.UD ? GRH_BYTES : 0;
    try (PyverbsPeer peer = peer(type)) {
      Player player = connected(type, peer);
      peer.tell("receive", header + BYTES);
      player.succeed(send(player, peer));
      assertThat(peer.tell("poll")).isEqualTo(SUCCESS + " " + (header + BYTES) + " 4711");
      assertThat(peer.tell("memory", header + BYTES))
          .endsWith(hex(player, 0, BYTES))
          .hasSize(2 * (header + BYTES));

      player.postReceive(header + 3);
      peer.tell("write", "010203");
      assertThat(peer.tell("request", "send_with_imm", 3, 0, 0, 815)).startsWith(SUCCESS);
      Completion received = player.await();
      assertThat(received.immediate()).isEqualTo(815);
      assertThat(received.bytes()).isEqualTo(header + 3);
      assertThat(hex(player, header, 3)).isEqualTo("010203");
    }
  }

  @Test
  void eachReadsAndWritesTheOthersMemory() throws Exception {
    try (PyverbsPeer peer = peer(IbvQp.Type.RC)) {
      Player player = connected(IbvQp.Type.RC, peer);
      player.succeed(
          player.request(IbvSendWrList.Opcode.RDMA_WRITE, 5000).rdma(peer.address, peer.rkey));
      assertThat(peer.tell("memory", 5000)).isEqualTo(hex(player, 0, 5000));

      peer.tell("write", "0a0b0c");
      player.succeed(
          player.request(IbvSendWrList.Opcode.RDMA_READ, 3).rdma(peer.address, peer.rkey));
      assertThat(hex(player, 0, 3)).isEqualTo("0a0b0c");

      String rkey = Integer.toUnsignedString(player.mr.rkey());
      assertThat(peer.tell("request", "read", 4000, player.address(1000), rkey))
          .startsWith(SUCCESS);
      assertThat(peer.tell("memory", 4000)).isEqualTo(hex(player, 1000, 4000));

      peer.tell("write", "0d0e0f");
      assertThat(peer.tell("request", "write", 3, player.address(0), rkey)).startsWith(SUCCESS);
      assertThat(hex(player, 0, 3)).isEqualTo("0d0e0f");
    }
  }

  @Test
  void bothAddToOneNumber() throws Exception {
    try (PyverbsPeer peer = peer(IbvQp.Type.RC)) {
      Player player = connected(IbvQp.Type.RC, peer);
      peer.tell("write", "0000000000000000");
      player.succeed(
          player
              .request(IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD, Long.BYTES)
              .atomic(peer.address, peer.rkey, 7, 0));
      assertThat(peer.tell("memory", 8)).isEqualTo("0700000000000000");

      player.memory.set(JAVA_LONG, 0, 100);
      assertThat(
              peer.tell(
                  "request",
                  "fetch_add",
                  Long.BYTES,
                  player.address(0),
                  Integer.toUnsignedString(player.mr.rkey()),
                  11))
          .startsWith(SUCCESS);
      assertThat(player.memory.get(JAVA_LONG, 0)).isEqualTo(111);
    }
  }

  @Test
  void thePeersRefusalIsAStatusHere() throws Exception {
    try (PyverbsPeer peer = peer(IbvQp.Type.RC)) {
      Player player = connected(IbvQp.Type.RC, peer);

      assertThat(
              player
                  .complete(
                      player
                          .request(IbvSendWrList.Opcode.RDMA_READ, 8)
                          .rdma(peer.address + MEMORY_BYTES, peer.rkey))
                  .status())
          .isEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);
    }
  }
}
