package dev.sluice.rdma;

/**
 * A batch of work completions ({@code struct ibv_wc}) that the polling thread reuses, so that
 * polling makes no garbage. Only {@link #wrId}, {@link #status}, {@link #qpNumber} and {@link
 * #vendorError} are valid where the status is not SUCCESS (ibv_poll_cq(3)).
 */
public final class WorkCompletions {
  private final long[] wrIds;
  private final WorkCompletionStatus[] statuses;
  private final int[] byteLengths;
  private final int[] qpNumbers;
  private final int[] vendorErrors;
  private int size;

  public WorkCompletions(int capacity) {
    wrIds = new long[capacity];
    statuses = new WorkCompletionStatus[capacity];
    byteLengths = new int[capacity];
    qpNumbers = new int[capacity];
    vendorErrors = new int[capacity];
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
  public void add(
      long wrId, WorkCompletionStatus status, int byteLength, int qpNumber, int vendorError) {
    wrIds[size] = wrId;
    statuses[size] = status;
    byteLengths[size] = byteLength;
    qpNumbers[size] = qpNumber;
    vendorErrors[size] = vendorError;
    size++;
  }

  public long wrId(int i) {
    return wrIds[i];
  }

  public WorkCompletionStatus status(int i) {
    return statuses[i];
  }

  /** Bytes that were READ. */
  public int byteLength(int i) {
    return byteLengths[i];
  }

  public int qpNumber(int i) {
    return qpNumbers[i];
  }

  public int vendorError(int i) {
    return vendorErrors[i];
  }
}
