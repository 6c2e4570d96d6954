// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.StoredFile;
import dev.sluice.verbs.VerbsException;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Simulated protection domain. Registers memory by a kernel's rules, registers files, and READs
 * regions as a peer's NIC would: by key, within bounds, never after close.
 */
public final class FakeProtectionDomain implements ProtectionDomain {
  private static final Set<AccessFlag> ON_DEMAND_READ =
      Set.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND);

  private final Kernel kernel;
  private final Map<Integer, Region> regions = new ConcurrentHashMap<>();
  private final AtomicInteger nextKey = new AtomicInteger(100);
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicInteger attempts = new AtomicInteger();
  private volatile long limitBytes = Long.MAX_VALUE;
  private volatile boolean sendsFiles;
  private volatile Runnable registering = () -> {};
  private volatile Runnable closing = () -> {};

  public FakeProtectionDomain() {
    this(Kernel.PAGES_ON_DEMAND);
  }

  public FakeProtectionDomain(Kernel kernel) {
    this.kernel = kernel;
  }

  /** Makes registrations beyond this limit fail with ENOMEM. */
  public void limitBytes(long limit) {
    limitBytes = limit;
  }

  /** Makes files the preferred form of registration from now on. */
  public void sendFiles() {
    sendsFiles = true;
  }

  /** Runs the action in the middle of each registration from now on. */
  public void whenRegistering(Runnable action) {
    registering = action;
  }

  /** Runs the action at the end of each deregistration from now on. */
  public void whenClosing(Runnable action) {
    closing = action;
  }

  /** Number of attempted registrations, including refused ones. */
  public int attempts() {
    return attempts.get();
  }

  public int openRegions() {
    return regions.size();
  }

  /** Returns the bytes that a READ fetches; null if it would complete with REM_ACCESS_ERR. */
  public byte[] read(RemoteRegion remote) {
    return read(remote, 0, Math.toIntExact(remote.length()));
  }

  public byte[] read(RemoteRegion remote, long offset, int length) {
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
    return register(operation, new MemoryBytes(memory));
  }

  @Override
  public boolean registersFiles() {
    return sendsFiles;
  }

  @Override
  public FileRegion registerFile(StoredFile file, long length) throws VerbsException {
    attempts.incrementAndGet();
    return register("register a file", new FileBytes(file, length));
  }

  private Region register(String operation, Bytes of) throws VerbsException {
    if (bytes.addAndGet(of.length()) > limitBytes) {
      bytes.addAndGet(-of.length());
      throw new VerbsException(operation, VerbsException.ENOMEM, "limit");
    }
    registering.run();
    Region region = new Region(of, nextKey.getAndAdd(2));
    regions.put(region.rkey(), region);
    return region;
  }

  @Override
  public Device device() {
    throw new UnsupportedOperationException();
  }

  @Override
  public QueuePair createQueuePair(CompletionQueue completions, int depth) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}

  /** Registered bytes. */
  private interface Bytes {
    long address();

    long length();

    byte[] read(long offset, int length) throws IOException;

    void close();
  }

  private record MemoryBytes(MemorySegment memory) implements Bytes {
    @Override
    public long address() {
      return memory.address();
    }

    @Override
    public long length() {
      return memory.byteSize();
    }

    @Override
    public byte[] read(long offset, int length) {
      return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() {
      if (!memory.scope().isAlive()) {
        throw new AssertionError("memory unmapped before its region was closed");
      }
    }
  }

  private record FileBytes(StoredFile file, long length) implements Bytes {
    @Override
    public long address() {
      return 1L << 62;
    }

    @Override
    public byte[] read(long offset, int length) throws IOException {
      ByteBuffer bytes = ByteBuffer.allocate(length);
      while (bytes.hasRemaining()) {
        if (file.read(offset + bytes.position(), bytes, false) < 0) {
          throw new EOFException();
        }
      }
      return bytes.array();
    }

    @Override
    public void close() {
      try {
        file.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private final class Region implements FileRegion {
    private final Bytes of;
    private final int key;
    private boolean closed;

    Region(Bytes of, int key) {
      this.of = of;
      this.key = key;
    }

    synchronized byte[] read(long address, int length) {
      long offset = address - of.address();
      if (closed || offset < 0 || offset + length > of.length()) {
        return null;
      }
      try {
        return of.read(offset, length);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public synchronized void copy(long position, byte[] target, int offset, int length)
        throws IOException {
      System.arraycopy(of.read(position, length), 0, target, offset, length);
    }

    @Override
    public long address() {
      return of.address();
    }

    @Override
    public long length() {
      return of.length();
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
        of.close();
        closed = true;
        regions.remove(rkey());
        bytes.addAndGet(-of.length());
        closing.run();
      }
    }
  }
}
