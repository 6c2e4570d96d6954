// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.transport;

import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadBuffer;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** A transfer engine over memory of its own. The test scripts its READs. */
public final class FakeTransport implements ReadTransport {
  /** A READ that was requested. */
  public record Read(PeerAddress peer, List<RemoteRegion> ranges, MemorySegment target) {
    public long bytes() {
      return ranges.stream().mapToLong(RemoteRegion::length).sum();
    }
  }

  /** Decides the result of a READ. */
  public interface Script {
    Script SUCCEED = (number, read) -> null;

    /**
     * @param number 0 for the first READ
     * @return the reason of its failure; null to let it succeed
     */
    ReadException.Cause outcome(int number, Read read);
  }

  private record Waiter(int bytes, long deadlineNanos, Consumer<ReadBuffer> taker) {}

  private final TreeMap<Long, byte[]> memory = new TreeMap<>();
  private final Executor completions;
  private Executor readCompletions;
  private Executor stageCompletions;
  private final List<Read> reads = new ArrayList<>();
  private final List<Stage> stages = new ArrayList<>();
  private final List<Long> done = new ArrayList<>();
  private final long pool;
  private FakeStager stager = new FakeStager(this, _ -> null, () -> 0);
  private final List<PeerAddress> touched = new ArrayList<>();
  private Script script = Script.SUCCEED;
  private Consumer<Read> afterRead = read -> {};
  private int maxBufferBytes = 1 << 20;
  private long poolBytes = Long.MAX_VALUE;
  private long buffersTaken;
  private int buffersOut;
  private long bytesOut;
  private Runnable shortage = () -> {};
  private Error defect;
  private int defectBytes;
  private Error releaseDefect;
  private List<Waiter> waiters;
  private boolean isShort;
  private boolean othersWait;
  private int wanted;

  public FakeTransport(Executor completions) {
    this(completions, 1 << 30);
  }

  /**
   * @param pool bytes that its pool claims to have
   */
  public FakeTransport(Executor completions, long pool) {
    this.completions = completions;
    this.pool = pool;
    this.readCompletions = completions;
    this.stageCompletions = completions;
  }

  /** Sets the stager, which answers requests for unregistered map outputs. */
  public void stager(FakeStager newStager) {
    stager = newStager;
  }

  /** Sets the executor of the stager's answers. */
  public void holdStages(Executor newStageCompletions) {
    stageCompletions = newStageCompletions;
  }

  public List<Stage> stages() {
    return stages;
  }

  /** Returns the leases that were given back. */
  public List<Long> done() {
    return done;
  }

  /** Puts bytes into the peer's memory. */
  public void map(long address, byte[] bytes) {
    memory.put(address, bytes);
  }

  public void script(Script newScript) {
    script = newScript;
  }

  /**
   * Sets a consumer that sees the bytes in the target before their reader does, and may change
   * them.
   */
  public void afterRead(Consumer<Read> newAfterRead) {
    afterRead = newAfterRead;
  }

  public void maxBufferBytes(int bytes) {
    maxBufferBytes = bytes;
  }

  /** Throws this at every request for a buffer of at least this size from now on. */
  public void throwInAcquire(Error newDefect, int fromBytes) {
    defect = newDefect;
    defectBytes = fromBytes;
  }

  /** Throws this at every release of a buffer from now on; null to stop that. */
  public void throwInRelease(Error newDefect) {
    releaseDefect = newDefect;
  }

  /** Sets the executor of READ completions. */
  public void holdReads(Executor newReadCompletions) {
    readCompletions = newReadCompletions;
  }

  /** Sets the size of the pool. A request without room gets null, as if its wait were over. */
  public void poolBytes(long bytes) {
    poolBytes = bytes;
  }

  /** Makes requests without room wait until {@link #serve} from now on. */
  public void holdWaiters() {
    waiters = new ArrayList<>();
  }

  /** Answers the waiting requests that have room now, or no time left. */
  public void serve(long nowNanos) {
    List<Waiter> waiting = waiters;
    holdWaiters();
    for (Waiter waiter : waiting) {
      if (waiter.deadlineNanos() <= nowNanos) {
        waiter.taker().accept(null);
      } else {
        acquire(waiter.bytes(), waiter.deadlineNanos(), waiter.taker());
      }
    }
  }

  public List<Read> reads() {
    return reads;
  }

  public List<PeerAddress> touched() {
    return touched;
  }

  /** Returns the number of buffers that were not released. */
  public int buffersOut() {
    return buffersOut;
  }

  /** Returns the bytes of the buffers that were not released. */
  public long bytesOut() {
    return bytesOut;
  }

  @Override
  public int maxBufferBytes() {
    return maxBufferBytes;
  }

  @Override
  public long poolBytes() {
    return pool;
  }

  @Override
  public void acquire(int bytes, long deadlineNanos, Consumer<ReadBuffer> taker) {
    if (defect != null && bytes >= defectBytes) {
      throw defect;
    }
    if (bytes > maxBufferBytes) {
      throw new IllegalArgumentException(bytes + " bytes");
    }
    isShort = bytes > poolBytes;
    if (isShort) {
      wanted = bytes;
      shortage.run();
      isShort = false;
    }
    if (bytes > poolBytes && waiters != null) {
      waiters.add(new Waiter(bytes, deadlineNanos, taker));
      return;
    }
    if (bytes > poolBytes) {
      completions.execute(() -> taker.accept(null));
      return;
    }
    FakeBuffer buffer = new FakeBuffer(bytes);
    completions.execute(() -> taker.accept(buffer));
  }

  @Override
  public boolean isShort() {
    return othersWait || isShort && wanted > poolBytes;
  }

  /** Sets if other requests wait for a buffer. */
  public void othersWait(boolean now) {
    othersWait = now;
  }

  @Override
  public void onShortage(Runnable listener) {
    shortage = listener;
  }

  @Override
  public void read(
      PeerAddress peer,
      List<RemoteRegion> ranges,
      ReadBuffer target,
      int offset,
      long deadlineNanos,
      ReadListener listener) {
    Read read = new Read(peer, ranges, target.segment().asSlice(offset));
    ReadException.Cause failure = script.outcome(reads.size(), read);
    reads.add(read);
    ((FakeBuffer) target).retain();
    readCompletions.execute(
        () -> {
          ReadException.Cause refusal = failure == null ? copy(read) : failure;
          if (refusal == null) {
            afterRead.accept(read);
            target.release();
            listener.onSuccess();
          } else {
            target.release();
            WorkCompletionStatus status = WorkCompletionStatus.REM_ACCESS_ERR;
            listener.onFailure(new ReadException(refusal, status, peer, "scripted"));
          }
        });
  }

  @Override
  public CompletableFuture<Object> stage(PeerAddress peer, Stage request) {
    stages.add(request);
    return CompletableFuture.supplyAsync(() -> stager.stage(request), stageCompletions);
  }

  @Override
  public void done(PeerAddress peer, long leaseId) {
    done.add(leaseId);
    stager.done(leaseId);
  }

  @Override
  public void touch(PeerAddress peer, int shuffleId) {
    touched.add(peer);
  }

  @Override
  public void slowPeer() {}

  /** Copies the bytes. Returns null, or the reason why the peer's device refuses the READ. */
  private ReadException.Cause copy(Read read) {
    stager.expire();
    long position = 0;
    for (RemoteRegion range : read.ranges()) {
      Map.Entry<Long, byte[]> region = memory.floorEntry(range.address());
      long start = region == null ? -1 : range.address() - region.getKey();
      if (start < 0 || start > region.getValue().length - range.length()) {
        return ReadException.Cause.STALE_LOCATION;
      }
      int length = (int) range.length();
      MemorySegment.copy(
          region.getValue(), (int) start, read.target(), ValueLayout.JAVA_BYTE, position, length);
      position += length;
    }
    return null;
  }

  private final class FakeBuffer implements ReadBuffer {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;
    private int references = 1;

    FakeBuffer(int bytes) {
      segment = arena.allocate(bytes);
      poolBytes -= bytes;
      buffersTaken++;
      buffersOut++;
      bytesOut += bytes;
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    void retain() {
      if (references == 0) {
        throw new IllegalStateException("retained after its release");
      }
      references++;
    }

    @Override
    public void release() {
      if (releaseDefect != null) {
        throw releaseDefect;
      }
      if (references == 0) {
        throw new IllegalStateException("released twice");
      }
      if (--references == 0) {
        poolBytes += segment.byteSize();
        buffersOut--;
        bytesOut -= segment.byteSize();
        arena.close();
      }
    }
  }

  public long buffersTaken() {
    return buffersTaken;
  }
}
