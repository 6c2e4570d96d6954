// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static dev.sluice.verbs.VerbsException.ENOMEM;
import static dev.sluice.verbs.VerbsException.EOPNOTSUPP;
import static dev.sluice.verbs.ibv.IbvTestCase.assertRefused;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NeedsCHeader;
import dev.sluice.verbs.ibv.IbvQpEx.PlacementType;
import dev.sluice.verbs.ibv.IbvQpEx.SelectivityLevel;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The work request API calls a driver as C's inline functions do. */
@NeedsCHeader("infiniband/verbs.h")
class IbvQpExTest {
  private static final int KEY = 0x8000_0001;
  private static final long ADDRESS = 0x7fff_1234_5000L;
  private static final long X = 0x8765_4321_0000_0007L;
  private static final int Y = 0x8001_0203;

  @TempDir private static Path directory;
  private static CInlineVerbs verbs;

  private final FakeDevice device = new FakeDevice();
  private final IbvPd pd = new IbvPd(device.context(), device.object(16));
  private final MemorySegment struct = device.object(IbvStructs.QP_EX.size() + Long.BYTES);
  private final IbvQp qp = new IbvQp(pd, pd.context(), struct, null, 0, pointer -> {});

  /** Serves as address handle and as window, so that the C function needs one parameter less. */
  private final MemorySegment object = device.object(IbvStructs.MW.size());

  private final IbvAh ah = new IbvAh(pd, object);
  private final IbvMw mw = new IbvMw(pd, object, IbvMw.Type.TYPE_2);
  private final IbvMr mr = new IbvMr(pd, device.object(48));

  @BeforeAll
  static void compile() throws Exception {
    verbs = new CInlineVerbs(directory, "extended_verbs.c");
  }

  @BeforeEach
  void fill() throws Exception {
    verbs.call("c_fill_qp_ex", struct);
    notes();
  }

  @AfterEach
  void closeDevice() {
    device.close();
  }

  @Test
  void operationsReachTheDriverAsFromC() throws Exception {
    IbvQpEx ex = new IbvQpEx(qp, struct, -1);
    postAll(ex);
    long[] java = notes();
    verbs.call("c_wr_all", struct, KEY, ADDRESS, X, Y, object, mr.pointer());
    assertThat(java).isEqualTo(notes());
  }

  private void postAll(IbvQpEx ex) throws VerbsException {
    ex.wrStart();
    ex.wrId(X);
    ex.wrFlags(Y);
    ex.rdmaRead(KEY, ADDRESS);
    ex.setSge(KEY, ADDRESS, Y);
    ex.rdmaWrite(KEY, ADDRESS);
    ex.setSgeList(
        new IbvSgeList(device.arena(), 2).add(ADDRESS, Y, KEY).add(ADDRESS + 1, Y + 1, KEY));
    ex.rdmaWriteImm(KEY, ADDRESS, Y);
    ex.setInlineData(ADDRESS, X);
    ex.send();
    ex.setInlineDataList(
        new IbvSgeList(device.arena(), 2).addInline(ADDRESS, X).addInline(object.address(), 1));
    ex.sendImm(Y);
    ex.setUdAddr(ah, Y, KEY);
    ex.sendInv(KEY);
    ex.setXrcSrqn(Y);
    ex.localInv(KEY);
    ex.atomicCmpSwp(KEY, ADDRESS, X, X + 1);
    ex.atomicFetchAdd(KEY, ADDRESS, X);
    ex.atomicWrite(KEY, ADDRESS, X);
    ex.bindMw(mw, KEY, mr, ADDRESS, X, 5);
    ex.flush(KEY, ADDRESS, X, PlacementType.PERSISTENT, SelectivityLevel.MR);
    ex.wrComplete();
    ex.wrStart();
    ex.wrAbort();
  }

  @Test
  void operationsThatWereNotAskedForAreRefused() throws Exception {
    IbvQpEx ex = new IbvQpEx(qp, struct, IbvQpEx.SendOps.RDMA_READ);
    ex.wrStart();
    ex.rdmaRead(KEY, ADDRESS);
    assertRefused(EOPNOTSUPP, () -> ex.rdmaWrite(KEY, ADDRESS));
    assertRefused(EOPNOTSUPP, () -> ex.flush(KEY, ADDRESS, 1, 1, SelectivityLevel.RANGE));
    assertRefused(EOPNOTSUPP, () -> ex.atomicCmpSwp(KEY, ADDRESS, 1, 1));
    assertThat(notes()).hasSize(10);
  }

  @Test
  void operationsThatADriverLacksAreRefused() throws Exception {
    struct.asSlice(IbvStructs.QP_EX.offset("wr_atomic_cmp_swp")).fill((byte) 0);
    IbvQpEx ex = new IbvQpEx(qp, struct, -1);
    assertRefused(EOPNOTSUPP, ex::wrStart);
    assertRefused(EOPNOTSUPP, ex::send);
    assertRefused(EOPNOTSUPP, ex::wrComplete);
    assertRefused(EOPNOTSUPP, () -> ex.setSge(KEY, ADDRESS, 1));
    assertRefused(EOPNOTSUPP, () -> ex.setUdAddr(ah, 1, 1));
    assertRefused(EOPNOTSUPP, () -> ex.bindMw(mw, KEY, mr, ADDRESS, 1, 1));
  }

  @Test
  void aBatchThatIsRefusedHasItsErrorNumber() throws Exception {
    IbvQpEx ex = new IbvQpEx(qp, struct, -1);
    verbs.call("c_set_complete_error", struct, ENOMEM);
    ex.wrStart();
    assertRefused(ENOMEM, ex::wrComplete);
  }

  @Test
  void aClosedQueuePairIsLeftAlone() throws Exception {
    IbvQpEx ex = new IbvQpEx(qp, struct, -1);
    qp.close();
    assertRefused(EINVAL, ex::wrStart);
    assertRefused(EINVAL, () -> ex.wrId(1));
    assertRefused(EINVAL, () -> ex.wrFlags(1));
    assertRefused(EINVAL, ex::wrComplete);
    assertThat(notes()).isEmpty();
  }

  @Test
  void postingAllocatesNothing() throws Exception {
    IbvQpEx ex = new IbvQpEx(qp, struct, -1);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long allocated = -1;
    for (int round = 0; round < 100 && allocated != 0; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 50_000; i++) {
        ex.wrId(i);
        ex.rdmaRead(KEY, ADDRESS);
        ex.setSge(KEY, ADDRESS, 8);
        ex.atomicWrite(KEY, ADDRESS, i);
        ex.wrComplete();
      }
      allocated = threads.getCurrentThreadAllocatedBytes() - before;
    }
    assertThat(allocated).isZero();
  }

  private long[] notes() throws Exception {
    MemorySegment into = device.memory(256 * Long.BYTES);
    int count = verbs.call("c_take_notes", into);
    return into.asSlice(0, (long) count * Long.BYTES).toArray(JAVA_LONG);
  }
}
