package dev.sluice.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Lets contenders do the same round by round, in rotating order. */
public final class Turns {
  private Turns() {}

  /** What is measured of one of them. */
  public interface Measurement<T> {
    /**
     * @param round below 0 for those that do not count
     */
    double of(T contender, int round) throws IOException, InterruptedException;
  }

  /**
   * @param warmUp rounds that do not count
   * @return values of the rounds, contender by contender
   */
  public static <T> double[][] measure(
      List<T> contenders, int warmUp, int rounds, Measurement<T> measurement)
      throws IOException, InterruptedException {
    double[][] values = new double[contenders.size()][rounds];
    List<T> order = new ArrayList<>(contenders);
    for (int round = -warmUp; round < rounds; round++) {
      for (T contender : order) {
        double value = measurement.of(contender, round);
        if (round >= 0) {
          values[contenders.indexOf(contender)][round] = value;
        }
      }
      Collections.rotate(order, 1);
    }
    return values;
  }
}
