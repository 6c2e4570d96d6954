// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Base of the binding's tests on a real device. Opens a device with a protection domain for each
 * test and closes them, and creates {@linkplain Player players}.
 */
@ExtendWith(NoVerbsObjectsLeft.class)
abstract class IbvTestCase {
  static final int PORT = 1;
  static final int PAGE_BYTES = 4096;
  static final int MEMORY_BYTES = 16 * PAGE_BYTES;
  static final int QKEY = 0x11111111;

  /** Maximum time for any event or completion. */
  static final int DEADLINE_MS = 20_000;

  static final int ALL_ACCESS =
      IbvMr.Access.LOCAL_WRITE
          | IbvMr.Access.REMOTE_WRITE
          | IbvMr.Access.REMOTE_READ
          | IbvMr.Access.REMOTE_ATOMIC;
  static final IbvQpCap CAP = new IbvQpCap(32, 32, 4, 4, 64);

  Arena arena;
  IbvContext context;
  IbvPd pd;
  IbvGidEntry gid;

  @BeforeEach
  final void openDevice() throws Exception {
    arena = Arena.ofShared();
    try (IbvDeviceList list = IbvDeviceList.get()) {
      use(list.devices().getFirst().open());
    }
  }

  /** Makes this device the one to use from now on; it is closed after the test. */
  final void use(IbvContext opened) throws VerbsException {
    if (context != null) {
      context.close();
    }
    context = opened;
    pd = context.allocPd();
    gid = gid();
  }

  /** Closes the context, which closes all objects that the test created in it. */
  @AfterEach
  final void closeDevice() throws VerbsException {
    if (context != null) {
      context.close();
    }
    arena.close();
  }

  /** Returns a RoCE v2 GID over IPv4 if there is one, because it survives a change of the link. */
  private IbvGidEntry gid() throws VerbsException {
    List<IbvGidEntry> table = context.queryGidTable(1024);
    return table.stream()
        .filter(e -> e.type().is(IbvGidEntry.Type.ROCE_V2) && e.gid().subnetPrefix() == 0)
        .findFirst()
        .orElse(table.getFirst());
  }

  final boolean isRoce() throws VerbsException {
    return context.queryPort(PORT).linkLayer().is(IbvPortAttr.LinkLayer.ETHERNET);
  }

  /** True if the device is soft-RoCE: its net device is no PCI device. */
  final boolean isRxe() {
    return Files.exists(Path.of(context.device().sysfsPath(), "parent"));
  }

  final MemorySegment allocate(long bytes) {
    return arena.allocate(bytes, PAGE_BYTES);
  }

  /** Returns a queue pair in RESET with a completion queue and registered memory of its own. */
  final Player player(IbvQp.Type type) throws VerbsException {
    return player(pd, type, CAP);
  }

  final Player player(IbvPd domain, IbvQp.Type type, IbvQpCap cap) throws VerbsException {
    return player(domain, IbvQpInitAttr.of(type, context.createCq(128), cap));
  }

  final Player player(IbvPd domain, IbvQpInitAttr attr) throws VerbsException {
    MemorySegment memory = allocate(MEMORY_BYTES);
    int access =
        attr.type() == IbvQp.Type.RC ? ALL_ACCESS : ALL_ACCESS & ~IbvMr.Access.REMOTE_ATOMIC;
    return player(domain, attr, memory, access);
  }

  final Player player(IbvPd domain, IbvQpInitAttr attr, MemorySegment memory, int access)
      throws VerbsException {
    return new Player(arena, domain.createQp(attr), attr.sendCq(), domain.regMr(memory, access));
  }

  /** Returns two players whose queue pairs are connected, or able to send datagrams. */
  final Pair pair(IbvQp.Type type) throws VerbsException {
    return connected(player(type), player(type));
  }

  record Pair(Player client, Player server) {}

  final Pair connected(Player client, Player server) throws VerbsException {
    return connected(new Connection(gid), client, server);
  }

  final Pair connected(Connection connection, Player client, Player server) throws VerbsException {
    connection.connect(client.qp, server.qp);
    connection.connect(server.qp, client.qp);
    return new Pair(client, server);
  }

  /** Checks that a verb is refused with an error number. */
  static void assertRefused(int errno, ThrowingCallable verb) {
    assertThatThrownBy(verb)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno));
  }

  interface Attempt<T> {
    T make() throws VerbsException;
  }

  /** Makes an attempt, and skips the test if the device's driver reports a lack of support. */
  static <T> T unlessUnsupported(Attempt<T> attempt) throws VerbsException {
    try {
      return attempt.make();
    } catch (VerbsException e) {
      assumeThat(e.errno()).as(e.getMessage()).isNotEqualTo(VerbsException.EOPNOTSUPP);
      throw e;
    }
  }
}
