package dev.sluice.doctor.alone;

import dev.sluice.rdma.transfer.PeerAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** What was asked for on the command line. One thread. */
final class Options {
  static final int DEFAULT_PORT = 7391;

  private static final Set<String> PROVIDERS = Set.of("auto", "verbs", "soft");

  private String provider = "auto";
  private String peer = "";
  private String localDirectories = defaultDirectories();
  private int port = DEFAULT_PORT;
  private int seconds = 3600;
  private boolean serves;
  private boolean json;
  private boolean help;

  private Options() {}

  /**
   * @throws IllegalArgumentException for what is no option, or has not the value that it needs
   */
  static Options parse(List<String> arguments) {
    Options options = new Options();
    for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
      String option = rest.next();
      switch (option) {
        case "--peer" -> options.peer = value(option, rest);
        case "--provider" -> options.provider = provider(value(option, rest));
        case "--local-dirs" -> options.localDirectories = value(option, rest);
        case "--port" -> options.port = number(option, rest);
        case "--seconds" -> options.seconds = number(option, rest);
        case "--serve" -> options.serves = true;
        case "--json" -> options.json = true;
        case "--help", "-h" -> options.help = true;
        default -> throw new IllegalArgumentException("there is no option " + option);
      }
    }
    return options;
  }

  private static String value(String option, Iterator<String> rest) {
    if (!rest.hasNext()) {
      throw new IllegalArgumentException(option + " needs a value");
    }
    return rest.next();
  }

  private static int number(String option, Iterator<String> rest) {
    String value = value(option, rest);
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(option + " is " + value + ", which is no number", e);
    }
  }

  private static String provider(String value) {
    if (!PROVIDERS.contains(value)) {
      throw new IllegalArgumentException("--provider is " + value + ", not auto, verbs or soft");
    }
    return value;
  }

  /** As Spark and YARN say it. */
  private static String defaultDirectories() {
    return Stream.of("SPARK_LOCAL_DIRS", "LOCAL_DIRS")
        .map(System.getenv()::get)
        .filter(dirs -> dirs != null && !dirs.isBlank())
        .findFirst()
        .orElse(System.getProperty("java.io.tmpdir"));
  }

  String provider() {
    return provider;
  }

  /** The node to READ from: a name, or a name and a port. */
  Optional<PeerAddress> peer() {
    if (peer.isEmpty()) {
      return Optional.empty();
    }
    int colon = peer.lastIndexOf(':');
    boolean hasPort = colon >= 0 && peer.indexOf(':') == colon;
    return Optional.of(
        hasPort
            ? new PeerAddress(peer, peer.substring(0, colon), portOf(peer.substring(colon + 1)))
            : new PeerAddress(peer, peer, DEFAULT_PORT));
  }

  private static int portOf(String text) {
    return number("--peer's port", List.of(text).iterator());
  }

  List<Path> localDirectories() {
    return Arrays.stream(localDirectories.split(",")).map(Path::of).toList();
  }

  int port() {
    return port;
  }

  int seconds() {
    return seconds;
  }

  boolean serves() {
    return serves;
  }

  boolean json() {
    return json;
  }

  boolean help() {
    return help;
  }
}
