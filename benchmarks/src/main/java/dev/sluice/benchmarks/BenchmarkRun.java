// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.sluice.testkit.CpuTicks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.package$;

/**
 * Origin of rows: time, machine, versions, options, and CPU time of other processes. {@link
 * Benchmark} creates it when a command ends; it is part of each row in a {@link ResultFile}, so a
 * new component is a new field of that JSON.
 *
 * @param date end of the run, UTC
 * @param host name of the machine
 * @param processors number of processors of the machine
 * @param kernel name and version of the operating system
 * @param java version of this process's JVM, which executors share
 * @param spark version of Spark
 * @param sluice version and commit of this build
 * @param options options of the command, as given
 * @param others share of the machine's CPU time that other processes had, from 0 to 1
 * @param stolen share of the machine's CPU time that other virtual machines had, from 0 to 1
 */
@JsonIgnoreProperties(ignoreUnknown = true) // of rows that an earlier version wrote
public record BenchmarkRun(
    String date,
    String host,
    int processors,
    String kernel,
    String java,
    String spark,
    String sluice,
    List<String> options,
    @JsonProperty("others_cpu_share") double others,
    @JsonProperty("stolen_cpu_share") double stolen) {

  // Versions of the documented figures: names of their rows have no version.
  private static final String SPARK = "4.2";
  private static final int JDK = 25;

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
        thousandths(end.othersSince(start)),
        thousandths(end.stolenSince(start)));
  }

  /**
   * Returns the end of the names of this process's rows: {@code @spark-4.1-java-21}, so that a row
   * of these versions replaces none of others; empty on Spark 4.2 and JDK 25.
   */
  public static String variant() {
    return variant(package$.MODULE$.SPARK_VERSION(), Runtime.version().feature());
  }

  static String variant(String spark, int jdk) {
    String release = spark.replaceFirst("(\\d+\\.\\d+).*", "$1");
    String others =
        (release.equals(SPARK) ? "" : "-spark-" + release) + (jdk == JDK ? "" : "-java-" + jdk);
    return others.replaceFirst("-", "@");
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

  /** Returns version and commit, which Maven wrote into the jar; "unknown" outside of one. */
  private static String version() {
    return Objects.requireNonNullElse(
        BenchmarkRun.class.getPackage().getImplementationVersion(), "unknown");
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

  /**
   * CPU time of the machine and of this process, in clock ticks, at one moment. The difference
   * between two moments shows how much of the machine other processes used during a measurement.
   * The fields are those of proc(5), {@code /proc/stat} and {@link CpuTicks}. {@link Benchmark}
   * takes it when a command begins, the run when it ends.
   *
   * @param total ticks of all processors
   * @param busy ticks of all processes, including interrupts
   * @param stolen ticks of other virtual machines of the host
   * @param own ticks of this process, its ended children, and theirs
   */
  record MachineLoad(long total, long busy, long stolen, long own) {
    private static final Path PROC = Path.of("/proc");

    // Columns of the line "cpu" in /proc/stat.
    private static final int IDLE = 3;
    private static final int IO_WAIT = 4;
    private static final int STEAL = 7;

    /** Number of columns to add up. Later columns count guests, which "user" and "nice" include. */
    private static final int COLUMNS = 8;

    /** Returns the load at this moment. */
    static MachineLoad now() {
      try {
        return parse(
            Files.readString(PROC.resolve("stat")), Files.readString(PROC.resolve("self/stat")));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /**
     * @param stat content of /proc/stat
     * @param self content of /proc/self/stat
     */
    static MachineLoad parse(String stat, String self) {
      String columns = stat.lines().findFirst().orElseThrow().replaceFirst("cpu +", "").trim();
      long[] cpu = Arrays.stream(columns.split(" ")).mapToLong(Long::parseLong).toArray();
      long total = Arrays.stream(cpu, 0, COLUMNS).sum();
      return new MachineLoad(
          total, total - cpu[IDLE] - cpu[IO_WAIT] - cpu[STEAL], cpu[STEAL], CpuTicks.of(self));
    }

    /** Returns the share of CPU time since {@code start} that other processes had, from 0 to 1. */
    double othersSince(MachineLoad start) {
      return share(busy - start.busy - (own - start.own), start);
    }

    /** Returns the share that other virtual machines had since {@code start}, from 0 to 1. */
    double stolenSince(MachineLoad start) {
      return share(stolen - start.stolen, start);
    }

    private double share(long ticks, MachineLoad start) {
      return total == start.total ? 0 : Math.clamp((double) ticks / (total - start.total), 0, 1);
    }
  }
}
