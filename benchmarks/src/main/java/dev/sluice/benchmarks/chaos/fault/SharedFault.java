package dev.sluice.benchmarks.chaos.fault;

/**
 * A fault that the stock shuffle suffers as well: its time then is the measure, and stages may be
 * run again.
 */
abstract class SharedFault extends Fault {
  private final int stageRetries;
  private final int lostExecutors;

  /** Of one that ends no executor. */
  SharedFault(String name, String what, Moment moment, int stageRetries) {
    this(name, what, moment, stageRetries, 0);
  }

  /**
   * @param stageRetries stages that may be run again for it, for each shuffle
   * @param lostExecutors executors that may end by it
   */
  SharedFault(String name, String what, Moment moment, int stageRetries, int lostExecutors) {
    super(name, what, moment);
    this.stageRetries = stageRetries;
    this.lostExecutors = lostExecutors;
  }

  @Override
  public final int stageRetries() {
    return stageRetries;
  }

  @Override
  public final int lostExecutors() {
    return lostExecutors;
  }

  @Override
  public final boolean happensToStock() {
    return true;
  }
}
