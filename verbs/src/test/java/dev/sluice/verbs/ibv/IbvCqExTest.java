// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EIO;
import static dev.sluice.verbs.VerbsException.EOPNOTSUPP;
import static dev.sluice.verbs.ibv.IbvTestCase.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.sluice.verbs.ffi.NeedsCHeader;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Polls and reads an extended completion queue of a driver in C. */
@NeedsCHeader("infiniband/verbs.h")
class IbvCqExTest {
  @TempDir private static Path directory;
  private static CInlineVerbs verbs;

  private final FakeDevice device = new FakeDevice();
  private final MemorySegment struct = device.object(IbvStructs.CQ_EX.size());
  private final IbvCq cq = new IbvCq(device.context(), struct, null);

  @BeforeAll
  static void compile() throws Exception {
    verbs = new CInlineVerbs(directory, "extended_verbs.c");
  }

  @BeforeEach
  void fill() throws Exception {
    verbs.call("c_fill_cq_ex", struct, 2, 0);
  }

  @AfterEach
  void closeDevice() {
    device.close();
  }

  @Test
  void eachMemberIsTheDrivers() throws Exception {
    IbvCqEx ex = new IbvCqEx(cq, struct, -1);
    assertThat(ex.startPoll()).isTrue();
    assertThat(ex.wrId()).isEqualTo(0x1122334455667788L);
    assertThat(ex.status()).isEqualTo(IbvWcArray.Status.REM_OP_ERR);
    assertThat(ex.statusNumber()).isEqualTo(IbvWcArray.Status.REM_OP_ERR.value());
    assertThat(ex.readOpcode()).isEqualTo(IbvWcArray.Opcode.RECV_RDMA_WITH_IMM.value());
    assertThat(ex.readVendorErr()).isEqualTo(0x80000001);
    assertThat(ex.readByteLen()).isEqualTo(0x80000002);
    assertThat(ex.readImmData()).isEqualTo(0x80000003);
    assertThat(ex.readInvalidatedRkey()).isEqualTo(0x03000080);
    assertThat(ex.readQpNum()).isEqualTo(4);
    assertThat(ex.readSrcQp()).isEqualTo(5);
    assertThat(ex.readWcFlags()).isEqualTo(6);
    assertThat(ex.readSlid()).isEqualTo(7);
    assertThat(ex.readSl()).isEqualTo(0xf8);
    assertThat(ex.readDlidPathBits()).isEqualTo(0xf9);
    assertThat(ex.readCompletionTs()).isEqualTo(0x800000000000000aL);
    assertThat(ex.readCvlan()).isEqualTo(0xf00b);
    assertThat(ex.readFlowTag()).isEqualTo(12);
    assertThat(ex.readTmTag()).isEqualTo(0x800000000000000dL);
    assertThat(ex.readTmPriv()).isEqualTo(14);
    assertThat(ex.readCompletionWallclockNs()).isEqualTo(15);
    assertThat(ex.nextPoll()).isTrue();
    assertThat(ex.nextPoll()).isFalse();
    ex.endPoll();
    assertThat(ex.startPoll()).isFalse();
  }

  @Test
  void anUnusableQueueIsAnException() throws Exception {
    verbs.call("c_fill_cq_ex", struct, 1, EIO);
    IbvCqEx ex = new IbvCqEx(cq, struct, 0);
    assertThat(ex.startPoll()).isTrue();
    assertRefused(EIO, ex::nextPoll);
    ex.endPoll();
    assertRefused(EIO, ex::startPoll);
  }

  @Test
  void membersThatWereNotAskedForAreRefused() throws Exception {
    IbvCqEx ex = new IbvCqEx(cq, struct, IbvCqEx.WcFlags.BYTE_LEN);
    assertThat(ex.startPoll()).isTrue();
    assertThat(ex.readByteLen()).isEqualTo(0x80000002);
    assertRefused(EOPNOTSUPP, ex::readImmData);
    assertRefused(EOPNOTSUPP, ex::readSl);
    assertRefused(EOPNOTSUPP, ex::readCvlan);
    assertRefused(EOPNOTSUPP, ex::readTmTag);
    assertRefused(EOPNOTSUPP, ex::readCompletionTs);
    ex.endPoll();
  }

  @Test
  void functionsThatADriverLacksAreRefused() {
    struct.asSlice(IbvStructs.CQ_EX.offset("start_poll")).fill((byte) 0);
    IbvCqEx ex = new IbvCqEx(cq, struct, -1);
    assertRefused(EOPNOTSUPP, ex::startPoll);
    assertRefused(EOPNOTSUPP, ex::nextPoll);
    assertRefused(EOPNOTSUPP, ex::endPoll);
    assertRefused(EOPNOTSUPP, ex::readOpcode);
  }

  @Test
  void pollingAllocatesNothing() throws Exception {
    verbs.call("c_fill_cq_ex", struct, Integer.MAX_VALUE, 0);
    IbvCqEx ex = new IbvCqEx(cq, struct, -1);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long allocated = -1;
    for (int round = 0; round < 100 && allocated != 0; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 50_000; i++) {
        if (!ex.startPoll() || !ex.nextPoll() || ex.wrId() == 0 || ex.readOpcode() == 0) {
          throw new AssertionError();
        }
        ex.endPoll();
      }
      allocated = threads.getCurrentThreadAllocatedBytes() - before;
    }
    assertThat(allocated).isZero();
  }
}
