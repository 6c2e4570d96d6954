// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import java.util.stream.LongStream;

/**
 * A device in memory: a {@code struct verbs_context} whose function pointers lead to this class. It
 * records its arguments as a driver reads them. One thread. The creator closes it, which ends all
 * its objects.
 *
 * <p>The offsets are those of C compilers for 64-bit Linux and {@code infiniband/verbs.h}. They are
 * written down again here, so that the test shares none with the binding.
 */
final class FakeDevice implements AutoCloseable {
  /** Offsets in struct verbs_context. */
  static final int QUERY_PORT = 0;

  static final int ADVISE_MR = 8;
  static final int QUERY_DEVICE_EX = 216;
  private static final int SIZE_MEMBER = 312;
  private static final int CONTEXT = 320;

  /** Size of pthread_mutex_t, a member of struct ibv_context. */
  private static final int MUTEX_SIZE = System.getProperty("os.arch").equals("aarch64") ? 48 : 40;

  private static final int VERBS_CONTEXT_SIZE = CONTEXT + 288 + MUTEX_SIZE;

  /** Offsets in struct ibv_context, within struct verbs_context. */
  static final int ALLOC_MW = CONTEXT + 8 + 56;

  static final int BIND_MW = CONTEXT + 8 + 64;
  static final int DEALLOC_MW = CONTEXT + 8 + 72;
  static final int POLL_CQ = CONTEXT + 8 + 88;
  static final int REQ_NOTIFY_CQ = CONTEXT + 8 + 96;
  static final int POST_SRQ_RECV = CONTEXT + 8 + 160;
  static final int POST_SEND = CONTEXT + 8 + 200;
  static final int POST_RECV = CONTEXT + 8 + 208;
  private static final int ABI_COMPAT = CONTEXT + 280 + MUTEX_SIZE;

  private static final MemoryLayout POINTER = JAVA_LONG;
  private static final FunctionDescriptor POST =
      FunctionDescriptor.of(JAVA_INT, POINTER, POINTER, POINTER);

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment verbsContext = memory(VERBS_CONTEXT_SIZE);

  /** A struct ibv_mw. */
  private final MemorySegment window = memory(32);

  /** Requests that were posted and not refused. */
  final List<PostedSend> sends = new ArrayList<>();

  final List<PostedRecv> recvs = new ArrayList<>();
  final List<PostedRecv> srqRecvs = new ArrayList<>();

  /** Completions for the next polls. */
  final Deque<RawCompletion> completions = new ArrayDeque<>();

  /** All other calls, with their arguments. */
  final List<Call> calls = new ArrayList<>();

  /** Result of all other functions. */
  int result;

  private int refusedIndex = -1;
  private int refusal;
  private int unnamedRefusal;

  FakeDevice() {
    verbsContext.set(JAVA_LONG, SIZE_MEMBER, VERBS_CONTEXT_SIZE);
    verbsContext.set(JAVA_LONG, ABI_COMPAT, -1);
    operation(POST_SEND, "postSend", POST);
    operation(POST_RECV, "postRecv", POST);
    operation(POST_SRQ_RECV, "postSrqRecv", POST);
    operation(POLL_CQ, "pollCq", FunctionDescriptor.of(JAVA_INT, POINTER, JAVA_INT, POINTER));
    operation(REQ_NOTIFY_CQ, "reqNotifyCq", FunctionDescriptor.of(JAVA_INT, POINTER, JAVA_INT));
    operation(ALLOC_MW, "allocMw", FunctionDescriptor.of(POINTER, POINTER, JAVA_INT));
    operation(BIND_MW, "bindMw", FunctionDescriptor.of(JAVA_INT, POINTER, POINTER, POINTER));
    operation(DEALLOC_MW, "deallocMw", FunctionDescriptor.of(JAVA_INT, POINTER));
    operation(
        QUERY_PORT,
        "queryPort",
        FunctionDescriptor.of(JAVA_INT, POINTER, JAVA_BYTE, POINTER, JAVA_LONG));
    operation(
        QUERY_DEVICE_EX,
        "queryDeviceEx",
        FunctionDescriptor.of(JAVA_INT, POINTER, POINTER, POINTER, JAVA_LONG));
    operation(
        ADVISE_MR,
        "adviseMr",
        FunctionDescriptor.of(JAVA_INT, POINTER, JAVA_INT, JAVA_INT, POINTER, JAVA_INT));
  }

  /** Replaces an operation, for example by NULL. Call it before {@link #context}. */
  void operation(int member, MemorySegment function) {
    verbsContext.set(JAVA_LONG, member, function.address());
  }

  @SuppressWarnings("restricted")
  private void operation(int member, String method, FunctionDescriptor descriptor) {
    try {
      MethodType type = descriptor.toMethodType();
      MethodHandle target = MethodHandles.lookup().bind(this, method, type);
      operation(member, Linker.nativeLinker().upcallStub(target, descriptor, arena));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Imitates an older library, whose verbs_context has fewer members. */
  void shorten(int firstMember) {
    verbsContext.set(JAVA_LONG, SIZE_MEMBER, VERBS_CONTEXT_SIZE - firstMember);
  }

  /** Imitates a device without a verbs_context. */
  void withoutExtensions() {
    verbsContext.set(JAVA_LONG, ABI_COMPAT, 0);
  }

  /** Makes posting fail at a request from now on. */
  void refuse(int index, int error) {
    refusedIndex = index;
    refusal = error;
  }

  /** Makes posting fail from now on, without naming the refused request. */
  void refuseWithoutNaming(int error) {
    unnamedRefusal = error;
  }

  IbvContext context() {
    return IbvContext.borrowed(contextPointer());
  }

  MemorySegment contextPointer() {
    return verbsContext.asSlice(CONTEXT);
  }

  /** Allocates memory that is filled with zeros. */
  MemorySegment memory(long bytes) {
    return arena.allocate(bytes, Long.BYTES);
  }

  /** Allocates a structure of which only the first member, its context, is set. */
  MemorySegment object(long bytes) {
    MemorySegment object = memory(bytes);
    object.set(JAVA_LONG, 0, contextPointer().address());
    return object;
  }

  /** Allocates a {@code struct ibv_mr} or {@code ibv_mw}, whose second member is its domain. */
  MemorySegment object(long bytes, MemorySegment pd) {
    MemorySegment object = object(bytes);
    object.set(JAVA_LONG, 8, pd.address());
    return object;
  }

  Arena arena() {
    return arena;
  }

  int postSend(long qp, long wr, long badWr) {
    return post(wr, badWr, sends, PostedSend::read);
  }

  int postRecv(long qp, long wr, long badWr) {
    return post(wr, badWr, recvs, PostedRecv::read);
  }

  int postSrqRecv(long srq, long wr, long badWr) {
    return post(wr, badWr, srqRecvs, PostedRecv::read);
  }

  private <T> int post(long first, long badWr, List<T> posted, Function<Long, T> read) {
    if (unnamedRefusal != 0) {
      return unnamedRefusal;
    }
    int index = 0;
    for (long wr = first; wr != 0; wr = at(wr, 16).get(JAVA_LONG, 8)) {
      if (index++ == refusedIndex) {
        at(badWr, Long.BYTES).set(JAVA_LONG, 0, wr);
        return refusal;
      }
      posted.add(read.apply(wr));
    }
    return 0;
  }

  int pollCq(long cq, int entries, long wc) {
    if (result < 0) {
      return result;
    }
    int count = Math.min(entries, completions.size());
    for (int i = 0; i < count; i++) {
      completions.remove().write(at(wc + i * RawCompletion.SIZE, RawCompletion.SIZE));
    }
    return count;
  }

  int reqNotifyCq(long cq, int solicitedOnly) {
    return called("req_notify_cq", cq, solicitedOnly);
  }

  /** Always returns the same window, as if it had been freed before. */
  long allocMw(long pd, int type) {
    called("alloc_mw", pd, type);
    window.set(JAVA_LONG, 0, contextPointer().address());
    window.set(JAVA_LONG, 8, pd);
    window.set(JAVA_INT, 16, 0x1100);
    window.set(JAVA_INT, 24, type);
    return window.address();
  }

  /** Gives the window its next key. */
  int bindMw(long qp, long mw, long bind) {
    MemorySegment b = at(bind, 48);
    window.set(JAVA_INT, 16, window.get(JAVA_INT, 16) + 1);
    return called(
        "bind_mw",
        qp,
        mw,
        b.get(JAVA_LONG, 0),
        b.get(JAVA_INT, 8),
        b.get(JAVA_LONG, 16),
        b.get(JAVA_LONG, 24),
        b.get(JAVA_LONG, 32),
        b.get(JAVA_INT, 40));
  }

  int deallocMw(long mw) {
    return called("dealloc_mw", mw);
  }

  /** Fills in the members that were added after the first releases. */
  int queryPort(long context, byte port, long attr, long length) {
    MemorySegment attributes = at(attr, length);
    attributes.set(JAVA_INT, 0, 4);
    attributes.set(JAVA_INT, 20, -1);
    attributes.set(JAVA_BYTE, 46, (byte) 2);
    attributes.set(JAVA_SHORT, 48, (short) 0x8001);
    return called("query_port", context, Byte.toUnsignedLong(port), length);
  }

  int queryDeviceEx(long context, long input, long attr, long length) {
    MemorySegment attributes = at(attr, length);
    attributes.set(JAVA_INT, 108, 77);
    attributes.set(JAVA_BYTE, 227, (byte) 2);
    attributes.set(JAVA_LONG, 240, 3);
    return called("query_device_ex", context, input, length);
  }

  int adviseMr(long pd, int advice, int flags, long sgList, int count) {
    Sge last = Sge.read(sgList, count).getLast();
    return called("advise_mr", pd, advice, flags, count, last.addr(), last.length(), last.lkey());
  }

  private int called(String function, long... arguments) {
    calls.add(Call.of(function, arguments));
    return result;
  }

  /** A call with its arguments. Structures are replaced by their members. */
  record Call(String function, List<Long> arguments) {
    static Call of(String function, long... arguments) {
      return new Call(function, LongStream.of(arguments).boxed().toList());
    }
  }

  /** Returns the memory at a pointer. */
  @SuppressWarnings("restricted")
  static MemorySegment at(long pointer, long bytes) {
    return MemorySegment.ofAddress(pointer).reinterpret(bytes);
  }

  @Override
  public void close() {
    arena.close();
  }
}
