// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Reports the names under which Spark's sinks show metrics, in an application with a namespace of
 * its own. The application prints the names of the driver's and the executors' metrics; the sinks'
 * names end with them.
 */
final class Observations {
  static final String NAMESPACE = "observed";

  /** Sinks whose names are printed. */
  enum Sink {
    CSV,
    JMX,
    PROMETHEUS
  }

  private static final String LINE = "OBSERVED";
  private static final String PAGE = "/metrics/prometheus";
  private static final String PAGE_OF_EXECUTORS = "/metrics/executors/prometheus";
  private static final int EXECUTORS = 2;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Duration START_TIMEOUT = Duration.ofMinutes(5);

  private Observations() {}

  /** Settings of the sinks whose names are printed; files are in {@code directory}. */
  static Map<String, String> settings(Path directory) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("spark.metrics.namespace", NAMESPACE);
    settings.put("spark.ui.enabled", "true");
    settings.put("spark.ui.port", "0");
    sink(settings, "csv", "CsvSink", "period", "1", "unit", "seconds");
    settings.put("spark.metrics.conf.*.sink.csv.directory", directory.toString());
    sink(settings, "jmx", "JmxSink");
    sink(settings, "prometheusServlet", "PrometheusServlet", "path", PAGE);
    return settings;
  }

  /** Settings of a sink that sends to {@code receiver}. */
  static Map<String, String> statsd(DatagramSocket receiver) {
    Map<String, String> settings = new LinkedHashMap<>();
    sink(settings, "statsd", "StatsdSink", "host", "127.0.0.1", "period", "1", "unit", "seconds");
    settings.put(
        "spark.metrics.conf.*.sink.statsd.port", Integer.toString(receiver.getLocalPort()));
    return settings;
  }

  static DatagramSocket receiver() throws IOException {
    DatagramSocket receiver = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    receiver.setSoTimeout((int) START_TIMEOUT.toMillis());
    return receiver;
  }

  /** Receives until two executors have sent a gauge of Sluice. */
  static TreeSet<String> received(DatagramSocket receiver) throws IOException {
    TreeSet<String> executors = new TreeSet<>();
    DatagramPacket packet = new DatagramPacket(new byte[1 << 16], 1 << 16);
    while (executors.size() < EXECUTORS) {
      receiver.receive(packet);
      String line = new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8);
      String[] parts = line.split("[.:]");
      if (isOfExecutor(parts)) {
        executors.add(parts[1]);
      }
    }
    return executors;
  }

  /** The driver has metrics called sluice.application, executors others. */
  private static boolean isOfExecutor(String[] parts) {
    return parts[0].equals(NAMESPACE) && parts[2].equals("sluice") && !parts[1].equals("driver");
  }

  private static void sink(
      Map<String, String> settings, String name, String type, String... options) {
    String prefix = "spark.metrics.conf.*.sink." + name + ".";
    settings.put(prefix + "class", "org.apache.spark.metrics.sink." + type);
    for (int i = 0; i < options.length; i += 2) {
      settings.put(prefix + options[i], options[i + 1]);
    }
  }

  /** Runs in the application and prints the names that each sink has. */
  static void print(JavaSparkContext context) throws Exception {
    TreeSet<String> beans = new TreeSet<>(beans());
    List<Integer> tasks = List.of(1, 2, 3, 4, 5, 6, 7, 8);
    beans.addAll(
        context.parallelize(tasks, tasks.size()).flatMap(_ -> beansOfExecutor()).collect());
    Path csv = Path.of(context.getConf().get("spark.metrics.conf.*.sink.csv.directory"));
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    // Both sinks have all metrics; this one gets them later.
    while (files(csv).size() < beans.size() && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
    print(Sink.CSV, files(csv));
    print(Sink.JMX, beans);
    String ui = context.sc().uiWebUrl().get();
    print(Sink.PROMETHEUS, page(ui + PAGE));
    print(Sink.PROMETHEUS, page(ui + PAGE_OF_EXECUTORS));
  }

  private static void print(Sink sink, TreeSet<String> names) {
    names.forEach(name -> System.out.println(LINE + " " + sink + " " + name));
  }

  /** Finds the names in the output of an application. */
  static TreeSet<String> names(Sink sink, String log) {
    String prefix = LINE + " " + sink + " ";
    return log.lines()
        .filter(line -> line.startsWith(prefix))
        .map(line -> line.substring(prefix.length()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static TreeSet<String> files(Path csv) throws IOException {
    try (Stream<Path> files = Files.list(csv)) {
      return files
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static Iterator<String> beansOfExecutor() throws Exception {
    TimeUnit.MILLISECONDS.sleep(300); // so that each executor gets tasks
    return beans().iterator();
  }

  private static List<String> beans() throws Exception {
    ObjectName all = new ObjectName("metrics:*");
    return ManagementFactory.getPlatformMBeanServer().queryNames(all, null).stream()
        .map(ObjectName::getCanonicalName)
        .toList();
  }

  private static TreeSet<String> page(String address) throws Exception {
    try (HttpClient client =
        HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()) {
      HttpRequest request = HttpRequest.newBuilder(URI.create(address)).timeout(TIMEOUT).build();
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new IOException(address + " answers " + answer.statusCode());
      }
      return answer
          .body()
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> line.split("[{ ]", 2)[0])
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }
}
