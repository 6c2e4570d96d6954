package dev.sluice.rdma;

/**
 * A batch of work completions ({@code struct ibv_wc}) that the polling thread reuses, so that
 * polling makes no garbage.
 */
public final class WorkCompletions {
  private final long[] wrIds;
  private final WorkCompletionStatus[] statuses;
  private final int[] qpNumbers;
  private int size;

  public WorkCompletions(int capacity) {
    wrIds = new long[capacity];
    statuses = new WorkCompletionStatus[capacity];
    qpNumbers = new int[capacity];
  }

  public int capacity() {
    return wrIds.length;
  }

  public int size() {
    return size;
  }

  /** Empties the batch. For providers. */
  public void clear() {
    size = 0;
  }

  /** Appends one completion. For providers. */
  public void add(long wrId, WorkCompletionStatus status, int qpNumber) {
    wrIds[size] = wrId;
    statuses[size] = status;
    qpNumbers[size] = qpNumber;
    size++;
  }

  public long wrId(int i) {
    return wrIds[i];
  }

  public WorkCompletionStatus status(int i) {
    return statuses[i];
  }

  public int qpNumber(int i) {
    return qpNumbers[i];
  }
}
