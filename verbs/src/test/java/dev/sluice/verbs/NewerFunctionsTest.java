// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.ibv.IbvBuf;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvDmah;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvMrInitAttr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Functions of rdma-core 59 to 65, on a library that has them. */
@OnFakeAdapters
class NewerFunctionsTest {
  private static final int ACCESS = IbvMr.Access.LOCAL_WRITE;

  private FakeAdapters adapters;
  private IbvContext context;
  private IbvPd pd;

  @BeforeEach
  void open() throws Exception {
    adapters = FakeAdapters.reset();
    try (IbvDeviceList list = IbvDeviceList.get()) {
      context = list.devices().getFirst().open();
    }
    pd = context.allocPd();
  }

  @AfterEach
  void close() throws Exception {
    context.close();
  }

  private long knob(String name) throws Exception {
    return adapters.get(0, name);
  }

  @Test
  void aRegionGetsTheAttributesThatAreSet() throws Exception {
    IbvDmah dmah =
        context.allocDmah(
            new IbvDmah.InitAttr(
                OptionalInt.of(7), OptionalInt.of(2), Optional.of(IbvDmah.TphMemType.PM)));
    assertThat(knob("dmah_mask")).isEqualTo(7);
    assertThat(knob("dmah_cpu")).isEqualTo(7);
    assertThat(knob("dmah_ph")).isEqualTo(2);
    assertThat(knob("dmah_memory")).isEqualTo(1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(64);
      try (IbvMr mr = pd.regMrEx(IbvMrInitAttr.of(memory, ACCESS).withIova(4096).withDmah(dmah))) {
        assertThat(mr.address()).isEqualTo(memory.address());
        assertThat(mr.length()).isEqualTo(64);
      }
      assertThat(knob("mr_mask")).isEqualTo(0b10011);
      assertThat(knob("mr_iova")).isEqualTo(4096);
      assertThat(knob("mr_dmah")).isEqualTo(dmah.pointer().address());
    }
    dmah.close();
    assertThat(knob("dealloc_dmah")).isEqualTo(1);
  }

  @Test
  void aHandleWithoutAttributesLeavesThemToTheDriver() throws Exception {
    context
        .allocDmah(new IbvDmah.InitAttr(OptionalInt.empty(), OptionalInt.empty(), Optional.empty()))
        .close();
    assertThat(knob("dmah_mask")).isZero();
  }

  @Test
  void aDmaBufIsRegisteredByItsDescriptor() throws Exception {
    pd.regMrEx(IbvMrInitAttr.ofDmabuf(33, 8192, 4096, 1 << 20, ACCESS)).close();
    assertThat(knob("mr_mask")).isEqualTo(0b1101);
    assertThat(knob("mr_fd")).isEqualTo(33);
    assertThat(knob("mr_fd_offset")).isEqualTo(8192);
    assertThat(knob("mr_iova")).isEqualTo(1 << 20);
  }

  @Test
  void anAbsentHandleOrBufferIsRefused() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      IbvMrInitAttr attr = IbvMrInitAttr.of(arena.allocate(64), ACCESS);
      assertThatThrownBy(() -> pd.regMrEx(attr.withDmah(null)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("missing");
      assertThatThrownBy(() -> pd.regMrEx(IbvMrInitAttr.ofBuf(null, arena.allocate(64), ACCESS)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("missing");
    }
  }

  @Test
  void memoryOfAClosedArenaIsRefused() throws Exception {
    IbvMrInitAttr attr;
    try (Arena arena = Arena.ofConfined()) {
      attr = IbvMrInitAttr.of(arena.allocate(64), ACCESS);
    }
    assertThatThrownBy(() -> pd.regMrEx(attr)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aDmaBufIsRegisteredByTheOlderFunction() throws Exception {
    try (IbvMr mr = pd.regDmabufMr(34, 8192, 4096, 1 << 20, ACCESS)) {
      assertThat(mr.address()).isEqualTo(8192);
      assertThat(mr.length()).isEqualTo(4096);
    }
    assertThat(knob("mr_fd")).isEqualTo(34);
    assertThat(knob("mr_iova")).isEqualTo(1 << 20);
  }

  @Test
  void aBufferIsFreedAfterItsRegions() throws Exception {
    IbvBuf buf = pd.allocBuf(10_000);
    MemorySegment memory = buf.memory();
    assertThat(memory.byteSize()).isEqualTo(10_000);
    IbvMr part = pd.regBufMr(buf, memory.asSlice(100, 50), ACCESS);
    assertThat(part.address()).isEqualTo(memory.address() + 100);
    pd.regMrEx(IbvMrInitAttr.ofBuf(buf, memory, ACCESS));
    assertThat(knob("mr_mask")).isEqualTo(0b100010);
    assertThat(knob("mr_buf")).isEqualTo(buf.pointer().address());
    pd.close();
    assertThat(knob("free_buf")).isEqualTo(1);
    assertThat(knob("mrs_at_free")).isZero();
  }

  @Test
  void theMemoryOfAFreedBufferCannotBeUsed() throws Exception {
    IbvBuf buf = pd.allocBuf(16);
    MemorySegment memory = buf.memory();
    memory.set(JAVA_BYTE, 0, (byte) 1);
    buf.close();
    assertThatThrownBy(() -> memory.get(JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aBufferOfAnotherDomainIsRefused() throws Exception {
    IbvBuf buf = pd.allocBuf(16);
    IbvPd other = context.allocPd();
    assertThatThrownBy(() -> other.regBufMr(buf, buf.memory(), ACCESS))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL))
        .hasMessageContaining("ibv_reg_buf_mr");
  }

  @Test
  void aBufferOfOrdinaryMemoryHasNoDescriptor() throws Exception {
    IbvBuf buf = pd.allocBuf(16);
    assertThatThrownBy(buf::exportDmabufFd).hasMessageContaining("No data available");
    adapters.set(0, "dmabuf_fd", 44);
    assertThat(buf.exportDmabufFd()).isEqualTo(44);
  }

  @Test
  void anEventOfTheProgramItselfComesWithItsArgument() throws Exception {
    try (RdmaEventChannel channel = RdmaEventChannel.create()) {
      RdmaCmId id = channel.createId(RdmaCmId.PortSpace.TCP);
      id.writeCmEvent(-5, 0x1234_5678_9abc_def0L);
      try (RdmaCmEvent event = channel.awaitEvent(10_000).orElseThrow()) {
        assertThat(event.type().known()).contains(RdmaCmEvent.Type.USER);
        assertThat(event.status()).isEqualTo(-5);
        assertThat(event.userArgument()).isEqualTo(0x1234_5678_9abc_def0L);
        assertThat(event.privateData()).isEmpty();
      }
    }
  }

  @Test
  void aSynchronousIdTakesNoEventOfTheProgram() throws Exception {
    try (RdmaCmId id = RdmaCmId.create(RdmaCmId.PortSpace.TCP)) {
      assertThatThrownBy(() -> id.writeCmEvent(0, 0)).hasMessageContaining("synchronous");
    }
  }

  /** librdmacm passes an error of getaddrinfo(3) on as errno. */
  @Test
  void anUnknownNameIsSaidToBeUnknown() throws Exception {
    RdmaAddrInfo.Hints hints = new RdmaAddrInfo.Hints(0, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC);
    adapters.set(0, "resolve_addrinfo_error", -2);
    try (RdmaEventChannel channel = RdmaEventChannel.create()) {
      RdmaCmId id = channel.createId(RdmaCmId.PortSpace.TCP);
      assertThatThrownBy(() -> id.resolveAddrInfo("no.such.name", "1", hints))
          .hasMessageContaining("node=no.such.name")
          .hasMessageContaining("Name or service not known");
    }
  }

  @Test
  void aNameIsResolvedByAnEvent() throws Exception {
    RdmaAddrInfo.Hints hints =
        new RdmaAddrInfo.Hints(RdmaAddrInfo.Flags.SA, RdmaCmId.PortSpace.IB, IbvQp.Type.RC);
    try (RdmaEventChannel channel = RdmaEventChannel.create()) {
      RdmaCmId id = channel.createId(RdmaCmId.PortSpace.IB);
      id.resolveAddrInfo(null, "a service", hints);
      try (RdmaCmEvent event = channel.awaitEvent(10_000).orElseThrow()) {
        assertThat(event.type().known()).contains(RdmaCmEvent.Type.ADDRINFO_RESOLVED);
      }
      assertThat(knob("has_node")).isZero();
      assertThat(knob("has_service")).isEqualTo(1);
      assertThat(knob("ai_flags")).isEqualTo(RdmaAddrInfo.Flags.SA);
      try (RdmaAddrInfo info = id.queryAddrInfo()) {
        assertThat(info.entries()).hasSize(1);
      }
      assertThatThrownBy(id::queryAddrInfo).isInstanceOf(VerbsException.class);
    }
  }
}
