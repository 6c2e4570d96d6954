package dev.sluice.benchmarks.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.stream.DoubleStream;

/**
 * Where values lie on a logarithmic axis.
 *
 * @param from the value at pixel {@code start}
 * @param to the value at pixel {@code end}
 */
record LogScale(double from, double to, double start, double end) {
  private static final int[] COARSE = {1, 2, 5};
  private static final int[] FINE = {1, 2, 3, 5, 7, 9};

  /** An axis with fewer ticks says nothing. */
  private static final int LEAST_TICKS = 3;

  /** A scale that shows all values, with a tenth to spare on both sides. */
  static LogScale around(DoubleStream values, double start, double end) {
    double[] all = values.toArray();
    double least = Arrays.stream(all).min().orElseThrow();
    double most = Arrays.stream(all).max().orElseThrow();
    return new LogScale(least / 1.1, most * 1.1, start, end);
  }

  double at(double value) {
    return start + (end - start) * Math.log(value / from) / Math.log(to / from);
  }

  /** 1, 2 and 5 times the powers of ten in between, or more where these are too few. */
  double[] ticks() {
    double[] coarse = ticks(COARSE);
    return coarse.length < LEAST_TICKS ? ticks(FINE) : coarse;
  }

  /** Of a tick: its one digit with the zeros that it needs. */
  static String label(double tick) {
    return new BigDecimal(tick).round(new MathContext(1)).toPlainString();
  }

  private double[] ticks(int[] digits) {
    int first = (int) Math.floor(Math.log10(from));
    int last = (int) Math.ceil(Math.log10(to));
    return DoubleStream.iterate(first, power -> power <= last, power -> power + 1)
        .flatMap(power -> Arrays.stream(digits).mapToDouble(digit -> digit * Math.pow(10, power)))
        .filter(tick -> tick >= from && tick <= to)
        .toArray();
  }
}
