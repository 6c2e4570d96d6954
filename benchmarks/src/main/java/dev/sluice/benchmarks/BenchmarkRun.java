// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import org.apache.spark.package$;

/**
 * Origin of rows: time, machine, versions, options, and the load by other processes. {@link
 * ComparisonOutput} creates it when a command ends; it is part of each row in a {@link ResultFile},
 * so a new component is a new field of that JSON.
 *
 * @param date end of the run, UTC
 * @param host name of the machine
 * @param processors number of processors of the machine
 * @param kernel name and version of the operating system
 * @param java version of this process's JVM, which executors share
 * @param spark version of Spark
 * @param sluice version of this build
 * @param options options of the command, as given
 * @param loadAverage runnable threads of the machine in the minute before the run. It does not show
 *     a busy machine: it counts the run before this one.
 * @param others share of the machine's CPU time that other processes had, from 0 to 1
 * @param stolen share of the machine's CPU time that other virtual machines had, from 0 to 1
 */
public record BenchmarkRun(
    String date,
    String host,
    int processors,
    String kernel,
    String java,
    String spark,
    String sluice,
    List<String> options,
    @JsonProperty("load_before") double loadAverage,
    @JsonProperty("others_cpu_share") double others,
    @JsonProperty("stolen_cpu_share") double stolen) {

  /** Above these limits, ratios of neighbouring rounds scatter more than the measured effects. */
  private static final double MOST_OTHERS = 0.05;

  private static final double MOST_STOLEN = 0.02;

  /**
   * Returns the run that ends now.
   *
   * @param start the load when the run began
   */
  static BenchmarkRun ended(MachineLoad start, List<String> options) {
    MachineLoad end = MachineLoad.now();
    return new BenchmarkRun(
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        hostName(),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        Runtime.version().toString(),
        package$.MODULE$.SPARK_VERSION(),
        version(),
        List.copyOf(options),
        start.loadAverage(),
        thousandths(end.othersSince(start)),
        thousandths(end.stolenSince(start)));
  }

  private static double thousandths(double share) {
    return Math.round(share * 1000) / 1000.0;
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Reads the version that Maven wrote into the jar; "unknown" outside of one. */
  private static String version() {
    String properties = "/META-INF/maven/dev.sluice/sluice-benchmarks/pom.properties";
    try (InputStream in = BenchmarkRun.class.getResourceAsStream(properties)) {
      Properties read = new Properties();
      if (in != null) {
        read.load(in);
      }
      return read.getProperty("version", "unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Returns a warning that this run's figures mean little, if the machine did other work. */
  public Optional<String> warning() {
    return others > MOST_OTHERS || stolen > MOST_STOLEN
        ? Optional.of(
            String.format(
                Locale.ROOT,
                "BUSY: other processes took %.0f %% of the machine's CPU time, and other virtual"
                    + " machines %.0f %%; repeat the run on an idle machine",
                100 * others,
                100 * stolen))
        : Optional.empty();
  }
}
