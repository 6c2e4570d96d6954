package dev.sluice.rdma;

/**
 * A batch of work completions ({@code struct ibv_wc}) that the polling thread reuses, so that
 * polling makes no garbage.
 */
public final class WorkCompletions {
  private final long[] wrIds;
  private final WorkCompletionStatus[] statuses;
  private final int[] qpNumbers;
  private final int[] vendorErrors;
  private int size;

  public WorkCompletions(int capacity) {
    wrIds = new long[capacity];
    statuses = new WorkCompletionStatus[capacity];
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

  /**
   * Appends one completion. For providers.
   *
   * @param vendorError what the device calls its failure; 0 for nothing
   */
  public void add(long wrId, WorkCompletionStatus status, int qpNumber, int vendorError) {
    wrIds[size] = wrId;
    statuses[size] = status;
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

  public int qpNumber(int i) {
    return qpNumbers[i];
  }

  /** What the device's vendor calls the failure, for its support; 0 where it says nothing. */
  public int vendorError(int i) {
    return vendorErrors[i];
  }
}
