package dev.sluice.spark.transport;

import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.PeerAddress;
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

/** A transfer engine over memory of its own, whose READs go as the test says. */
public final class FakeTransport implements ReadTransport {
  /** A READ that was asked for. */
  public record Read(PeerAddress peer, List<RemoteRegion> ranges, MemorySegment target) {
    public long bytes() {
      return ranges.stream().mapToLong(RemoteRegion::length).sum();
    }
  }

  /** What is to become of a READ. */
  public interface Script {
    Script SUCCEED = (number, read) -> null;

    /**
     * @param number 0 for the first READ
     * @return why it fails; null to let it succeed
     */
    ReadException.Cause outcome(int number, Read read);
  }

  private record Waiter(int bytes, long deadlineNanos, Consumer<Buffer> taker) {}

  private final TreeMap<Long, byte[]> memory = new TreeMap<>();
  private final Executor completions;
  private Executor readCompletions;
  private Executor stageCompletions;
  private Executor tableCompletions;
  private final List<Read> reads = new ArrayList<>();
  private final List<Stage> stages = new ArrayList<>();
  private final List<GetTables> questions = new ArrayList<>();
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
   * @param pool bytes that its pool says to have
   */
  public FakeTransport(Executor completions, long pool) {
    this.completions = completions;
    this.pool = pool;
    this.readCompletions = completions;
    this.stageCompletions = completions;
    this.tableCompletions = completions;
  }

  /** Answers requests for what is not registered. */
  public void stager(FakeStager newStager) {
    stager = newStager;
  }

  /** Answers to such requests go there. */
  public void holdStages(Executor newStageCompletions) {
    stageCompletions = newStageCompletions;
  }

  /** Answers to questions for tables go there. */
  public void holdTables(Executor newTableCompletions) {
    tableCompletions = newTableCompletions;
  }

  public List<Stage> stages() {
    return stages;
  }

  /** For tables. */
  public List<GetTables> questions() {
    return questions;
  }

  /** Leases that were given back. */
  public List<Long> done() {
    return done;
  }

  /** Memory of the peer. */
  public void map(long address, byte[] bytes) {
    memory.put(address, bytes);
  }

  public void script(Script newScript) {
    script = newScript;
  }

  /** Sees the bytes in the target before their reader does, and may change them. */
  public void afterRead(Consumer<Read> newAfterRead) {
    afterRead = newAfterRead;
  }

  public void maxBufferBytes(int bytes) {
    maxBufferBytes = bytes;
  }

  /** From now on it is thrown at whoever asks for a buffer of so many bytes. */
  public void throwInAcquire(Error newDefect, int fromBytes) {
    defect = newDefect;
    defectBytes = fromBytes;
  }

  /** From now on it is thrown at whoever gives back a buffer; null for at nobody. */
  public void throwInRelease(Error newDefect) {
    releaseDefect = newDefect;
  }

  /** Completions of READs go there. */
  public void holdReads(Executor newReadCompletions) {
    readCompletions = newReadCompletions;
  }

  /** A buffer for which there is no room is null, as when the wait for one is over. */
  public void poolBytes(long bytes) {
    poolBytes = bytes;
  }

  /** From now on whoever finds no room waits until {@link #serve}. */
  public void holdWaiters() {
    waiters = new ArrayList<>();
  }

  /** Answers those who wait, for whom there is room or no time left. */
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

  /** Buffers that were not released. */
  public int buffersOut() {
    return buffersOut;
  }

  /** Of the buffers that somebody has. */
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
  public void acquire(int bytes, long deadlineNanos, Consumer<Buffer> taker) {
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

  /** Whether somebody else waits for a buffer. */
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
      Buffer target,
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
  public CompletableFuture<Object> tables(PeerAddress peer, GetTables request) {
    questions.add(request);
    return CompletableFuture.supplyAsync(() -> stager.tables(request), tableCompletions);
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

  /** Why the peer's device refuses it; null where all of it was copied. */
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

  private final class FakeBuffer implements Buffer {
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
