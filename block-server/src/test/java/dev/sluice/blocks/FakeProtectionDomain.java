package dev.sluice.blocks;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairCapabilities;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Registers memory as far as a kernel does, and READs it as a peer's NIC would: by key, within
 * bounds, never after close.
 */
final class FakeProtectionDomain implements ProtectionDomain {
  private static final Set<AccessFlag> ON_DEMAND_READ =
      Set.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND);

  private final Kernel kernel;
  private final Map<Integer, Region> regions = new ConcurrentHashMap<>();
  private final AtomicInteger nextKey = new AtomicInteger(100);
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicInteger attempts = new AtomicInteger();
  private volatile long limitBytes = Long.MAX_VALUE;
  private volatile Runnable registering = () -> {};
  private volatile Runnable refusing = () -> {};

  FakeProtectionDomain() {
    this(Kernel.PAGES_ON_DEMAND);
  }

  FakeProtectionDomain(Kernel kernel) {
    this.kernel = kernel;
  }

  /** Registrations beyond that fail with ENOMEM. */
  void limitBytes(long limit) {
    limitBytes = limit;
  }

  /** Runs in the middle of each registration from now on. */
  void whenRegistering(Runnable action) {
    registering = action;
  }

  /** Runs after each registration that fails with ENOMEM from now on. */
  void whenRefusing(Runnable action) {
    refusing = action;
  }

  /** Registrations that were asked for, refused ones included. */
  int attempts() {
    return attempts.get();
  }

  int openRegions() {
    return regions.size();
  }

  /** What a READ brings; null where it would complete with REM_ACCESS_ERR. */
  byte[] read(RemoteRegion remote) {
    return read(remote, 0, Math.toIntExact(remote.length()));
  }

  byte[] read(RemoteRegion remote, long offset, int length) {
    Region region = regions.get(remote.rkey());
    return region == null ? null : region.read(remote.address() + offset, length);
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) throws VerbsException {
    attempts.incrementAndGet();
    String operation = "ibv_reg_mr(length=" + memory.byteSize() + ")";
    if (!memory.isNative()
        || memory.byteSize() == 0
        || !access.contains(AccessFlag.REMOTE_READ)
        || !ON_DEMAND_READ.containsAll(access)) {
      throw new VerbsException(operation, VerbsException.EINVAL, "flags or memory");
    }
    int errno = kernel.register(memory, access);
    if (errno != 0) {
      throw new VerbsException(operation, errno, "refused by the kernel");
    }
    if (bytes.addAndGet(memory.byteSize()) > limitBytes) {
      bytes.addAndGet(-memory.byteSize());
      refusing.run();
      throw new VerbsException(operation, VerbsException.ENOMEM, "limit");
    }
    registering.run();
    Region region = new Region(memory, nextKey.getAndAdd(2));
    regions.put(region.rkey(), region);
    return region;
  }

  @Override
  public Device device() {
    throw new UnsupportedOperationException();
  }

  @Override
  public QueuePair createQueuePair(
      CompletionQueue sendQueue, CompletionQueue receiveQueue, QueuePairCapabilities capabilities) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}

  private final class Region implements MemoryRegion {
    private final MemorySegment memory;
    private final int key;
    private boolean closed;

    Region(MemorySegment memory, int key) {
      this.memory = memory;
      this.key = key;
    }

    synchronized byte[] read(long address, int length) {
      long offset = address - memory.address();
      if (closed || offset < 0 || offset + length > memory.byteSize()) {
        return null;
      }
      return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public long address() {
      return memory.address();
    }

    @Override
    public long length() {
      return memory.byteSize();
    }

    @Override
    public int lkey() {
      return key;
    }

    @Override
    public int rkey() {
      return key + 1;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        if (!memory.scope().isAlive()) {
          throw new AssertionError("memory unmapped before its region was closed");
        }
        closed = true;
        regions.remove(rkey());
        bytes.addAndGet(-memory.byteSize());
      }
    }
  }
}
