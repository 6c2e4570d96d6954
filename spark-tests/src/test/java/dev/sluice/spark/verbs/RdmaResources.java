// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The kernel's view of RDMA, independent of the processes that use it: its objects by device
 * (rdma-resource(8)), and the traffic of its ports.
 *
 * @param byDevice counts such as {@code qp} and {@code mr}, by device
 */
record RdmaResources(Map<String, Map<String, Integer>> byDevice) {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final Pattern DEVICE = Pattern.compile("(?m)^\\d+: (\\S+): (.*)$");
  private static final Pattern COUNT = Pattern.compile("(\\w+) (\\d+)");
  private static final Pattern CONNECTION =
      Pattern.compile("(?m)^link (\\w+)/\\d+ .*type RC .*\\bpid (\\d+)");
  private static final Pattern REGION =
      Pattern.compile("(?m)^.* mrlen (\\d+)(?: .*\\bpid (\\d+))?");
  private static final Pattern THREAD_GROUP = Pattern.compile("(?m)^Tgid:\\s*(\\d+)");
  private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(20);

  /** The present objects. */
  static RdmaResources now() throws IOException {
    Map<String, Map<String, Integer>> devices = new TreeMap<>();
    Matcher device = DEVICE.matcher(rdma("resource", "show"));
    while (device.find()) {
      Map<String, Integer> counts =
          COUNT
              .matcher(device.group(2))
              .results()
              .collect(
                  Collectors.toMap(
                      count -> count.group(1),
                      count -> Integer.valueOf(count.group(2)),
                      Integer::sum,
                      TreeMap::new));
      devices.put(device.group(1), counts);
    }
    return new RdmaResources(devices);
  }

  /** Objects of a kind, such as {@code mr}, of all devices. */
  int count(String kind) {
    return byDevice.values().stream().mapToInt(counts -> counts.get(kind)).sum();
  }

  /** Bytes of all memory regions by process; 0 where the thread that made one has ended. */
  static Map<Long, Long> regionBytes() throws IOException {
    Map<Long, Long> bytes = new TreeMap<>();
    Matcher region = REGION.matcher(rdma("resource", "show", "mr"));
    while (region.find()) {
      long process = region.group(2) == null ? 0 : processOf(region.group(2));
      bytes.merge(process, Long.parseLong(region.group(1)), Long::sum);
    }
    return bytes;
  }

  /** The processes that have reliable connections, by device. */
  static Map<String, Set<Long>> connected() throws IOException {
    Map<String, Set<Long>> processes = new TreeMap<>();
    Matcher queuePair = CONNECTION.matcher(rdma("resource", "show", "qp"));
    while (queuePair.find()) {
      processes
          .computeIfAbsent(queuePair.group(1), device -> new TreeSet<>())
          .add(processOf(queuePair.group(2)));
    }
    return processes;
  }

  /** The kernel names the thread that made an object. */
  private static long processOf(String thread) throws IOException {
    Matcher group = THREAD_GROUP.matcher(Files.readString(Path.of("/proc", thread, "status")));
    assertThat(group.find()).isTrue();
    return Long.parseLong(group.group(1));
  }

  /** Waits until the kernel has the same objects as before: processes take a moment to end. */
  static void awaitNothingButWhatWas(RdmaResources before) throws Exception {
    long deadline = System.nanoTime() + RELEASE_TIMEOUT.toNanos();
    while (!now().equals(before) && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
    assertThat(now()).as("RDMA objects after the job").isEqualTo(before);
  }

  /** Packets that soft-RoCE devices have received. */
  static long receivedPackets() throws IOException {
    long packets = 0;
    for (String device : DEVICES.toFile().list()) {
      Path counter = DEVICES.resolve(device).resolve("ports/1/hw_counters/rcvd_pkts");
      packets += Files.exists(counter) ? Long.parseLong(Files.readString(counter).strip()) : 0;
    }
    return packets;
  }

  private static String rdma(String... arguments) throws IOException {
    ProcessBuilder command = new ProcessBuilder("rdma");
    command.command().addAll(List.of(arguments));
    Process process = command.redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }
}
