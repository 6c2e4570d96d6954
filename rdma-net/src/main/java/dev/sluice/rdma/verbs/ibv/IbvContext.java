package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.FileDescriptors;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** An open device: {@code struct ibv_context}, the parent of protection domains and queues. */
public final class IbvContext extends NativeObject {
  private static final int ENODATA = 61;

  private final MemorySegment struct;
  private final boolean owned;
  private final IbvOps ops;
  private final VerbsContextOps extendedOps;

  private IbvContext(MemorySegment struct, boolean owned) {
    super("context", null, struct);
    this.struct = struct;
    this.owned = owned;
    ops = new IbvOps(struct);
    extendedOps = new VerbsContextOps(struct);
  }

  static IbvContext owned(MemorySegment pointer) {
    return new IbvContext(IbvStructs.CONTEXT.at(pointer), true);
  }

  /**
   * The context that librdmacm opened, and closes itself: closing this only closes the children.
   *
   * @param pointer of an {@code rdma_cm_id}'s {@code verbs}
   */
  public static IbvContext borrowed(MemorySegment pointer) {
    return new IbvContext(IbvStructs.CONTEXT.at(pointer), false);
  }

  public IbvDevice device() {
    return new IbvDevice(IbvStructs.DEVICE.at(IbvStructs.CONTEXT.getPointer(struct, "device")));
  }

  /** Completion vectors: a CQ's events go to one of them. */
  public int completionVectors() {
    return IbvStructs.CONTEXT.getInt(struct, "num_comp_vectors");
  }

  /** The descriptor that becomes readable when there is an asynchronous event. */
  public int asyncFd() {
    return IbvStructs.CONTEXT.getInt(struct, "async_fd");
  }

  IbvOps ops() {
    return ops;
  }

  VerbsContextOps extendedOps() {
    return extendedOps;
  }

  /** The device's limits and capabilities (ibv_query_device_ex(3), else ibv_query_device(3)). */
  public IbvDeviceAttr queryDevice() throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvDeviceStructs.DEVICE_ATTR_EX.allocate(arena);
      try {
        extendedOps
            .queryDeviceEx()
            .call(pointer(), MemorySegment.NULL, attr, IbvDeviceStructs.DEVICE_ATTR_EX.size());
      } catch (VerbsException e) {
        if (e.errno() != VerbsException.EOPNOTSUPP && e.errno() != VerbsException.ENOSYS) {
          throw e;
        }
        attr.fill((byte) 0);
        LibIbverbs.QUERY_DEVICE.call(pointer(), attr);
      }
      return new IbvDeviceAttr(attr);
    }
  }

  /**
   * A port's attributes (ibv_query_port(3)), all of them where the device's driver has the extended
   * form.
   *
   * @param port from 1
   * @throws VerbsException EINVAL for a port that does not exist
   */
  public IbvPortAttr queryPort(int port) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvDeviceStructs.PORT_ATTR.allocate(arena);
      NativeFunction extended;
      try {
        extended = extendedOps.queryPort();
      } catch (VerbsException e) {
        LibIbverbs.COMPAT_QUERY_PORT.call(pointer(), (byte) port, attr);
        return new IbvPortAttr(attr);
      }
      extended.call(pointer(), (byte) port, attr, IbvDeviceStructs.PORT_ATTR.size());
      return new IbvPortAttr(attr);
    }
  }

  /** The GID at an index, zero where the table has none (ibv_query_gid(3)). */
  public Gid queryGid(int port, int index) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment gid = IbvStructs.GID.allocate(arena);
      LibIbverbs.QUERY_GID.call(pointer(), (byte) port, index, gid);
      return IbvGidEntry.gid(gid);
    }
  }

  /**
   * The GID at an index with its type and net device (ibv_query_gid_ex(3)); empty where the table
   * has none.
   */
  public Optional<IbvGidEntry> queryGidEntry(int port, int index) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entry = IbvStructs.GID_ENTRY.allocate(arena);
      LibIbverbs.QUERY_GID_EX.call(pointer(), port, index, entry, 0, IbvStructs.GID_ENTRY.size());
      return Optional.of(IbvGidEntry.read(entry));
    } catch (VerbsException e) {
      if (e.errno() == ENODATA) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /**
   * All valid GIDs of all ports (ibv_query_gid_table(3)).
   *
   * @param maxEntries room for so many
   * @throws VerbsException EINVAL if there are more
   */
  public List<IbvGidEntry> queryGidTable(int maxEntries) throws VerbsException {
    long size = IbvStructs.GID_ENTRY.size();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entries = arena.allocate(size * maxEntries, Long.BYTES);
      long count =
          (long) LibIbverbs.QUERY_GID_TABLE.invoke(pointer(), entries, (long) maxEntries, 0, size);
      if (count < 0) {
        throw new VerbsException(
            "ibv_query_gid_table(max_entries=" + maxEntries + ")",
            (int) -count,
            "the table cannot be read, or is longer");
      }
      List<IbvGidEntry> table = new ArrayList<>();
      for (long i = 0; i < count; i++) {
        table.add(IbvGidEntry.read(entries.asSlice(i * size, size)));
      }
      return table;
    }
  }

  /** The partition key at an index, 16 bits (ibv_query_pkey(3)). */
  public int queryPkey(int port, int index) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment entry = arena.allocate(JAVA_SHORT);
      LibIbverbs.QUERY_PKEY.call(pointer(), (byte) port, index, entry);
      return Short.toUnsignedInt(Short.reverseBytes(entry.get(JAVA_SHORT, 0)));
    }
  }

  /**
   * Waits for an asynchronous event (ibv_get_async_event(3)); the caller acknowledges it. The
   * descriptor becomes non-blocking: an event goes with the object that it is about, also between
   * its announcement and being taken, and taking it must not wait for the next one.
   *
   * @param timeoutMs 0 returns at once
   * @return empty after the timeout, or when the event has gone
   */
  public Optional<IbvAsyncEvent> awaitAsyncEvent(long timeoutMs) throws VerbsException {
    if (FileDescriptors.awaitReadable(timeoutMs, asyncFd()) == 0) {
      return Optional.empty();
    }
    FileDescriptors.setNonBlocking(asyncFd());
    try {
      return Optional.of(IbvAsyncEvent.get(this));
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.EAGAIN) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Allocates a protection domain (ibv_alloc_pd(3)). */
  public IbvPd allocPd() throws VerbsException {
    return adopt(new IbvPd(this, LibIbverbs.ALLOC_PD.callForPointer(pointer())));
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
   * Creates a completion queue (ibv_create_cq(3)).
   *
   * @param entries completions that it holds at least
   * @param channel where it announces completions; null for none
   * @param vector completion vector, below {@link #completionVectors}
   * @throws VerbsException EINVAL for an impossible size or vector
   */
  public IbvCq createCq(int entries, IbvCompChannel channel, int vector) throws VerbsException {
    MemorySegment channelPointer = channel == null ? MemorySegment.NULL : channel.pointer();
    MemorySegment cq =
        LibIbverbs.CREATE_CQ.callForPointer(
            pointer(), entries, MemorySegment.NULL, channelPointer, vector);
    IbvCq created = new IbvCq(this, cq, channel);
    if (channel != null) {
      channel.add(created);
    }
    return adopt(created);
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    if (owned) {
      LibIbverbs.CLOSE_DEVICE.call(pointer);
    }
  }
}
