// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/**
 * Reusable batch of work completions ({@code struct ibv_wc}): polling makes no garbage. Each poller
 * has one and uses it on one thread; the provider fills it during the poll. Indices are below
 * {@link #size}.
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
   * @param vendorError the device's own error code; 0 for none
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

  /** Returns the vendor's code for the failure, for the vendor's support; 0 if there is none. */
  public int vendorError(int i) {
    return vendorErrors[i];
  }
}
