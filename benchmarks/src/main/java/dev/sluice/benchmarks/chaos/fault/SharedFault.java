package dev.sluice.benchmarks.chaos.fault;

/**
 * A fault that the stock shuffle suffers as well: its time then is the measure, and stages may be
 * run again.
 */
abstract class SharedFault extends Fault {
  private final int stageRetries;

  /**
   * @param stageRetries stages that may be run again for it
   */
  SharedFault(String name, String what, Moment moment, int stageRetries) {
    super(name, what, moment);
    this.stageRetries = stageRetries;
  }

  @Override
  public final int stageRetries() {
    return stageRetries;
  }

  @Override
  public final boolean happensToStock() {
    return true;
  }
}
