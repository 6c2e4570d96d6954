// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An open device: {@code struct ibv_context} (ibv_open_device(3)). It is the parent of protection
 * domains, completion queues, channels, XRC domains and DMA handles, and closes them first. The
 * caller of {@link IbvDevice#open} closes it. Any thread; one thread at a time waits for
 * asynchronous events.
 */
public final class IbvContext extends NativeObject {
  /** Error number of ibv_query_gid_ex(3) for an index without an entry. */
  private static final int ENODATA = 61;

  private final IbvOps ops;

  private IbvContext(MemorySegment struct, @Nullable Destroyer destroyer) {
    super("context", null, struct, destroyer, 0);
    ops = new IbvOps(struct);
  }

  static IbvContext owned(MemorySegment pointer) {
    return new IbvContext(IbvStructs.CONTEXT.at(pointer), LibIbverbs.CLOSE_DEVICE::invoke);
  }

  /**
   * Wraps a context that librdmacm opened and will close, for {@code RdmaCmIdObjects} and {@code
   * RdmaDeviceList}. Closing the result only closes its children.
   *
   * @param pointer the {@code verbs} member of an {@code rdma_cm_id}
   */
  public static IbvContext borrowed(MemorySegment pointer) {
    return new IbvContext(IbvStructs.CONTEXT.at(pointer), null);
  }

  public IbvDevice device() {
    return new IbvDevice(this, IbvStructs.CONTEXT.getPointer(struct(), "device"));
  }

  /** Number of completion vectors; the events of a CQ go to one of them. */
  public int completionVectors() {
    return IbvStructs.CONTEXT.getInt(struct(), "num_comp_vectors");
  }

  /** File descriptor that becomes readable when there is an asynchronous event. */
  public int asyncFd() {
    return IbvStructs.CONTEXT.getInt(struct(), "async_fd");
  }

  IbvOps ops() {
    return ops;
  }

  /** Returns an operation outside of the data path, as {@link IbvOps#operation}. */
  NativeFunction operation(String declaration) throws VerbsException {
    pointer(); // reads go through the context, which must be open
    return ops.operation(declaration);
  }

  /** Reads limits and capabilities (ibv_query_device_ex(3), else ibv_query_device(3)). */
  public IbvDeviceAttr queryDevice() throws VerbsException {
    MemorySegment attr = IbvStructs.DEVICE_ATTR_EX.allocate(HEAP);
    try {
      operation("int ibv_query_device_ex(ptr context, ptr input, ptr attr, long attr_size)")
          .call(pointer(), MemorySegment.NULL, attr, IbvStructs.DEVICE_ATTR_EX.size());
    } catch (VerbsException e) {
      if (e.errno() != VerbsException.EOPNOTSUPP && e.errno() != VerbsException.ENOSYS) {
        throw e;
      }
      attr.fill((byte) 0);
      LibIbverbs.QUERY_DEVICE.call(pointer(), attr);
    }
    return new IbvDeviceAttr(attr);
  }

  /**
   * Reads a port's attributes (ibv_query_port(3)): all of them if the device's driver has the
   * extended form, else the first members.
   *
   * @param port from 1
   * @throws VerbsException EINVAL for a port that does not exist
   */
  public IbvPortAttr queryPort(int port) throws VerbsException {
    MemorySegment attr = IbvStructs.PORT_ATTR.allocate(HEAP);
    NativeFunction extended;
    try {
      extended =
          operation(
              "int ibv_query_port(ptr context, byte port_num, ptr port_attr,"
                  + " long port_attr_len)");
    } catch (VerbsException e) {
      LibIbverbs.COMPAT_QUERY_PORT.call(pointer(), (byte) port, attr);
      return new IbvPortAttr(attr);
    }
    extended.call(pointer(), (byte) port, attr, IbvStructs.PORT_ATTR.size());
    return new IbvPortAttr(attr);
  }

  /** Returns the GID at an index, zero if the table has no entry there (ibv_query_gid(3)). */
  public Gid queryGid(int port, int index) throws VerbsException {
    MemorySegment gid = IbvStructs.GID.allocate(HEAP);
    LibIbverbs.QUERY_GID.call(pointer(), (byte) port, index, gid);
    return IbvGidEntry.gid(gid);
  }

  /**
   * Returns the GID at an index with its type and net device (ibv_query_gid_ex(3)); empty if the
   * table has no entry there.
   */
  public Optional<IbvGidEntry> queryGidEntry(int port, int index) throws VerbsException {
    MemorySegment entry = IbvStructs.GID_ENTRY.allocate(HEAP);
    return LibIbverbs.QUERY_GID_EX.succeeds(
            ENODATA, pointer(), port, index, entry, 0, IbvStructs.GID_ENTRY.size())
        ? Optional.of(IbvGidEntry.read(entry))
        : Optional.empty();
  }

  /**
   * Returns all valid GIDs of all ports (ibv_query_gid_table(3)).
   *
   * @param maxEntries maximum number of entries
   * @throws VerbsException EINVAL if there are more entries
   */
  public List<IbvGidEntry> queryGidTable(int maxEntries) throws VerbsException {
    long size = IbvStructs.GID_ENTRY.size();
    MemorySegment entries = HEAP.allocate(size * maxEntries, Long.BYTES);
    long count =
        (long) LibIbverbs.QUERY_GID_TABLE.invoke(pointer(), entries, (long) maxEntries, 0, size);
    if (count < 0) {
      throw new VerbsException(
          "ibv_query_gid_table(max_entries=" + maxEntries + ")",
          (int) -count,
          "the table cannot be read, or has more entries");
    }
    List<IbvGidEntry> table = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      table.add(IbvGidEntry.read(entries.asSlice(i * size, size)));
    }
    return table;
  }

  /** Returns the partition key at an index, 16 bits (ibv_query_pkey(3)). */
  public int queryPkey(int port, int index) throws VerbsException {
    MemorySegment entry = HEAP.allocate(JAVA_SHORT);
    LibIbverbs.QUERY_PKEY.call(pointer(), (byte) port, index, entry);
    return Short.toUnsignedInt(Short.reverseBytes(entry.get(JAVA_SHORT, 0)));
  }

  /**
   * Returns the index of a partition key (ibv_get_pkey_index(3)).
   *
   * @param pkey 16 bits
   * @throws VerbsException if the port's table lacks the key
   */
  public int getPkeyIndex(int port, int pkey) throws VerbsException {
    return LibIbverbs.GET_PKEY_INDEX.call(pointer(), (byte) port, Short.reverseBytes((short) pkey));
  }

  /**
   * Returns the effective speed of a port in Mb/s (ibv_query_port_speed(3)), also for bonded ports.
   *
   * @throws VerbsException ENOSYS with rdma-core before 62, EOPNOTSUPP if the device lacks the
   *     query
   */
  public long queryPortSpeed(int port) throws VerbsException {
    MemorySegment speed = HEAP.allocate(JAVA_LONG);
    LibIbverbs.QUERY_PORT_SPEED.call(pointer(), port, speed);
    return speed.get(JAVA_LONG, 0) * 100; // C returns units of 100 Mb/s
  }

  /**
   * Returns the address of a message's sender (ibv_init_ah_from_wc(3)).
   *
   * @param port port at which the message arrived, from 1
   * @param grh the message's header; null if the completion has no GRH flag
   * @throws VerbsException EINVAL if the completion has the GRH flag and {@code grh} is null
   */
  public IbvAhAttr initAhFromWc(int port, IbvWcArray completions, int index, @Nullable IbvGrh grh)
      throws VerbsException {
    MemorySegment attr = IbvStructs.AH_ATTR.allocate(HEAP);
    LibIbverbs.INIT_AH_FROM_WC.call(
        pointer(),
        (byte) port,
        completions.struct(index),
        IbvGrh.write(grh, completions.flags(index), HEAP),
        attr);
    return IbvAhAttr.read(attr);
  }

  /**
   * Waits for an asynchronous event (ibv_get_async_event(3)); the caller acknowledges it. Makes the
   * descriptor non-blocking: closing an object removes its events, even after the descriptor became
   * readable, and taking one must not wait for the next event.
   *
   * @param timeoutMs 0 returns at once
   * @return empty after the timeout, or if the event was removed
   */
  public Optional<IbvAsyncEvent> awaitAsyncEvent(long timeoutMs) throws VerbsException {
    if (FileDescriptors.awaitReadable(timeoutMs, asyncFd()) == 0) {
      return Optional.empty();
    }
    FileDescriptors.setNonBlocking(asyncFd());
    MemorySegment event = IbvStructs.ASYNC_EVENT.allocate(HEAP);
    return LibIbverbs.GET_ASYNC_EVENT.succeeds(VerbsException.EAGAIN, pointer(), event)
        ? Optional.of(new IbvAsyncEvent(event))
        : Optional.empty();
  }

  /** Allocates a protection domain (ibv_alloc_pd(3)). */
  public IbvPd allocPd() throws VerbsException {
    return adopt(new IbvPd(this, LibIbverbs.ALLOC_PD.callForPointer(pointer())));
  }

  /** Wraps a domain that librdmacm owns and frees. Closing it only closes its children. */
  public IbvPd borrowedPd(MemorySegment pointer) throws VerbsException {
    return adopt(new IbvPd(this, pointer, null));
  }

  /**
   * Opens an XRC domain (ibv_open_xrcd(3)).
   *
   * @param fd descriptor of the file through which processes share the domain; -1 for a domain of
   *     this process
   * @param oflags as for open(2): O_CREAT, which is 64, and O_EXCL, 128
   * @throws VerbsException EOPNOTSUPP if the device or its driver lacks XRC
   */
  public IbvXrcd openXrcd(int fd, int oflags) throws VerbsException {
    return adopt(IbvXrcd.open(this, fd, oflags));
  }

  /**
   * Allocates a DMA handle (ibv_alloc_dmah(3)).
   *
   * @throws VerbsException ENOSYS with rdma-core before 59, EOPNOTSUPP if the device has none
   */
  public IbvDmah allocDmah(IbvDmah.InitAttr attr) throws VerbsException {
    MemorySegment struct = attr.write(HEAP);
    return adopt(new IbvDmah(this, LibIbverbs.ALLOC_DMAH.callForPointer(pointer(), struct)));
  }

  /** Creates a completion event channel (ibv_create_comp_channel(3)). */
  public IbvCompChannel createCompChannel() throws VerbsException {
    return adopt(
        new IbvCompChannel(this, LibIbverbs.CREATE_COMP_CHANNEL.callForPointer(pointer())));
  }

  /** Creates a completion queue without events. */
  public IbvCq createCq(int entries) throws VerbsException {
    return createCq(entries, null, 0);
  }

  /**
   * Creates a completion queue (ibv_create_cq(3)), from arguments as in {@link IbvCqInitAttrEx}.
   *
   * @throws VerbsException EINVAL for an impossible size or vector
   */
  public IbvCq createCq(int entries, @Nullable IbvCompChannel channel, int vector)
      throws VerbsException {
    MemorySegment channelPointer = channel == null ? MemorySegment.NULL : channel.pointer();
    MemorySegment cq =
        LibIbverbs.CREATE_CQ.callForPointer(
            pointer(), entries, MemorySegment.NULL, channelPointer, vector);
    return adoptCq(cq, channel);
  }

  private IbvCq adoptCq(MemorySegment cq, @Nullable IbvCompChannel channel) throws VerbsException {
    return adopt(new IbvCq(this, cq, channel));
  }

  /**
   * Creates a completion queue that is polled through {@link IbvCqEx} (ibv_create_cq_ex(3)).
   *
   * @throws VerbsException EOPNOTSUPP if the device's driver lacks the function or a flag
   */
  public IbvCqEx createCqEx(IbvCqInitAttrEx attr) throws VerbsException {
    MemorySegment pointer =
        operation("ptr ibv_create_cq_ex(ptr context, ptr cq_attr)")
            .callForPointer(pointer(), attr.write(HEAP));
    return new IbvCqEx(adoptCq(pointer, attr.channel()), pointer, attr.wcFlags());
  }
}
