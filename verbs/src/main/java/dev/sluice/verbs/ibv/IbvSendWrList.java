// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * A chain of {@code struct ibv_send_wr} (ibv_post_send(3)). One thread at a time fills it, posts
 * it, clears it, and fills it again. Each method after {@link #add} fills in the request that was
 * added last. Call only methods that fit its opcode: in C their members share a union.
 */
public final class IbvSendWrList extends IbvWrList {
  /** Operations of work requests (ibv_post_send(3)). */
  public enum Opcode implements CConstant {
    RDMA_WRITE(0),
    RDMA_WRITE_WITH_IMM(1),
    SEND(2),
    SEND_WITH_IMM(3),
    RDMA_READ(4),
    ATOMIC_CMP_AND_SWP(5),
    ATOMIC_FETCH_AND_ADD(6),
    LOCAL_INV(7),
    BIND_MW(8),
    SEND_WITH_INV(9),
    TSO(10),
    DRIVER1(11),
    FLUSH(14),
    ATOMIC_WRITE(15);

    private final int value;

    Opcode(int value) {
      this.value = value;
    }

    @Override
    public int value() {
      return value;
    }

    /** The opcode in words (ibv_wr_opcode_str(3)); ENOSYS if the library lacks that. */
    public String text() throws VerbsException {
      return LibIbverbs.WR_OPCODE_STR.callForString(value);
    }
  }

  /** Flags of a work request (ibv_post_send(3)). Bits, to be combined by {@code |}. */
  public interface Flags {
    int FENCE = 1;
    int SIGNALED = 1 << 1;
    int SOLICITED = 1 << 2;
    int INLINE = 1 << 3;
    int IP_CSUM = 1 << 4;
  }

  private static final long SIZE = IbvStructs.SEND_WR.size();
  private static final long OPCODE = IbvStructs.SEND_WR.offset("opcode");
  private static final long SEND_FLAGS = IbvStructs.SEND_WR.offset("send_flags");
  private static final long IMM_DATA = IbvStructs.SEND_WR.offset("imm_data");
  private static final long RDMA_ADDR = IbvStructs.SEND_WR.offset("wr.rdma.remote_addr");
  private static final long RDMA_RKEY = IbvStructs.SEND_WR.offset("wr.rdma.rkey");
  private static final long ATOMIC_ADDR = IbvStructs.SEND_WR.offset("wr.atomic.remote_addr");
  private static final long ATOMIC_COMPARE_ADD = IbvStructs.SEND_WR.offset("wr.atomic.compare_add");
  private static final long ATOMIC_SWAP = IbvStructs.SEND_WR.offset("wr.atomic.swap");
  private static final long ATOMIC_RKEY = IbvStructs.SEND_WR.offset("wr.atomic.rkey");

  /** Begin of the members that only atomics, XRC and binding have. */
  private static final long RARE = ATOMIC_SWAP;

  private static final long XRC_SRQN = IbvStructs.SEND_WR.offset("qp_type.xrc.remote_srqn");
  private static final long UD_AH = IbvStructs.SEND_WR.offset("wr.ud.ah");
  private static final long UD_QPN = IbvStructs.SEND_WR.offset("wr.ud.remote_qpn");
  private static final long UD_QKEY = IbvStructs.SEND_WR.offset("wr.ud.remote_qkey");
  private static final long BIND_MW = IbvStructs.SEND_WR.offset("bind_mw.mw");
  private static final long BIND_RKEY = IbvStructs.SEND_WR.offset("bind_mw.rkey");
  private static final long BIND_MR = IbvStructs.SEND_WR.offset("bind_mw.bind_info.mr");
  private static final long BIND_ADDR = IbvStructs.SEND_WR.offset("bind_mw.bind_info.addr");
  private static final long BIND_LENGTH = IbvStructs.SEND_WR.offset("bind_mw.bind_info.length");
  private static final long BIND_ACCESS =
      IbvStructs.SEND_WR.offset("bind_mw.bind_info.mw_access_flags");

  /** For each request, two objects that the driver dereferences; null as long as there are none. */
  private NativeObject @Nullable [] objects;

  /** True once a BIND_MW was added, also after {@link #clear}. */
  private boolean binds;

  /** True if slots may hold members from {@link #RARE} on. They are zero at first. */
  private boolean hadRare;

  /**
   * @param arena owns the memory; its owner closes it after the last use of the list
   * @param capacity maximum number of requests
   * @param maxSge scatter/gather entries of a request
   */
  public IbvSendWrList(Arena arena, int capacity, int maxSge) {
    super(arena, IbvStructs.SEND_WR, capacity, maxSge);
  }

  @Override
  long requestSize() {
    return SIZE;
  }

  @Override
  long clearedSize() {
    return RARE;
  }

  /** Adds a request with {@link Flags}. Throws an IllegalStateException if the list is full. */
  public IbvSendWrList add(long wrId, Opcode opcode, int flags) {
    addRequest(wrId);
    for (long i = RARE; hadRare && i < SIZE; i += Long.BYTES) {
      set(i, 0L);
    }
    if (objects != null) {
      objects[2 * size() - 2] = null;
      objects[2 * size() - 1] = null;
    }
    binds |= opcode == Opcode.BIND_MW;
    set(OPCODE, opcode.value());
    set(SEND_FLAGS, flags);
    return this;
  }

  /** Adds bytes of local memory: source of SEND and WRITE, target of READ and atomics. */
  public IbvSendWrList sge(long address, int length, int lkey) {
    addSge(address, length, lkey);
    return this;
  }

  /** Sets the remote memory of a READ or WRITE. */
  public IbvSendWrList rdma(long remoteAddress, int rkey) {
    set(RDMA_ADDR, remoteAddress);
    set(RDMA_RKEY, rkey);
    return this;
  }

  /**
   * Sets the remote memory and the operands of an atomic.
   *
   * @param compareAdd value to compare with (compare-and-swap) or to add (fetch-and-add)
   * @param swap value that a compare-and-swap stores
   */
  public IbvSendWrList atomic(long remoteAddress, int rkey, long compareAdd, long swap) {
    hadRare = true;
    set(ATOMIC_ADDR, remoteAddress);
    set(ATOMIC_COMPARE_ADD, compareAdd);
    set(ATOMIC_SWAP, swap);
    set(ATOMIC_RKEY, rkey);
    return this;
  }

  /** Sets the destination of a datagram. */
  public IbvSendWrList datagram(IbvAh ah, int remoteQpNumber, int remoteQkey)
      throws VerbsException {
    refer(UD_AH, ah, 0);
    set(UD_QPN, remoteQpNumber);
    set(UD_QKEY, remoteQkey);
    return this;
  }

  /** Sets a pointer of the last request to an object that must be open at posting time. */
  private void refer(long member, NativeObject object, int place) throws VerbsException {
    if (objects == null) {
      objects = new NativeObject[2 * capacity()];
    }
    set(member, object.pointer().address());
    objects[2 * size() - 2 + place] = object;
  }

  /**
   * Refuses all requests if a driver would dereference a null pointer or a closed object.
   *
   * @param datagrams true for a UD queue pair, whose requests need a destination each
   */
  void requireObjects(boolean datagrams) throws PostException {
    if (!datagrams && !binds) {
      return;
    }
    for (int i = 0; i < size(); i++) {
      String problem = problem(i, datagrams);
      if (problem != null) {
        throw new PostException(
            "ibv_post_send", VerbsException.EINVAL, "request " + i + problem, 0);
      }
    }
  }

  private @Nullable String problem(int index, boolean datagrams) {
    boolean bind = getInt(index, OPCODE) == Opcode.BIND_MW.value();
    if (bind && (getLong(index, BIND_MW) == 0 || getLong(index, BIND_MR) == 0)) {
      return " lacks the memory window that it binds, or the region";
    }
    if (datagrams && !bind && getLong(index, UD_AH) == 0) {
      return " has no destination";
    }
    for (int i = 2 * index; objects != null && i < 2 * index + 2; i++) {
      if (objects[i] != null && objects[i].isClosed()) {
        return ": " + objects[i] + " is closed";
      }
    }
    return null;
  }

  /** Sets the peer's shared receive queue, for a queue pair of type XRC_SEND. */
  public IbvSendWrList xrc(int remoteSrqNumber) {
    hadRare = true;
    set(XRC_SRQN, remoteSrqNumber);
    return this;
  }

  /** Sets immediate data. They travel in network byte order: the receiver gets the same number. */
  public IbvSendWrList immediate(int data) {
    set(IMM_DATA, Integer.reverseBytes(data));
    return this;
  }

  /** Sets the key that a LOCAL_INV invalidates here, or a SEND_WITH_INV at the receiver. */
  public IbvSendWrList invalidate(int rkey) {
    set(IMM_DATA, rkey);
    return this;
  }

  /**
   * Sets the type 2 memory window that a BIND_MW binds.
   *
   * @param rkey the window's next key ({@link IbvMw#nextRkey})
   * @param length bytes
   * @param access of {@link IbvMr.Access}
   */
  public IbvSendWrList bind(IbvMw mw, int rkey, IbvMr mr, long address, long length, int access)
      throws VerbsException {
    hadRare = true;
    refer(BIND_MW, mw, 0);
    refer(BIND_MR, mr, 1);
    set(BIND_RKEY, rkey);
    set(BIND_ADDR, address);
    set(BIND_LENGTH, length);
    set(BIND_ACCESS, access);
    return this;
  }
}
