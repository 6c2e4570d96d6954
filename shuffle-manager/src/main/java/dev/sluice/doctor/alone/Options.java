package dev.sluice.doctor.alone;

import dev.sluice.rdma.transfer.PeerAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What was asked for on the command line. One thread. */
final class Options {
  static final int DEFAULT_PORT = 7391;

  private static final int MAX_PORT = 65_535;
  private static final int MAX_SECONDS = 1_000_000;

  /** An address in brackets, or a name without colons; and perhaps a port. */
  private static final Pattern PEER = Pattern.compile("(?:\\[([^\\]]+)\\]|([^:\\[]+))(?::(.+))?");

  private static final Set<String> PROVIDERS = Set.of("auto", "verbs", "soft");

  private String provider = "auto";
  private Optional<PeerAddress> peer = Optional.empty();
  private List<Path> localDirectories = directories(defaultDirectories());
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
        case "--peer" -> options.peer = Optional.of(peer(value(option, rest)));
        case "--provider" -> options.provider = provider(value(option, rest));
        case "--local-dirs" -> options.localDirectories = directories(value(option, rest));
        case "--port" -> options.port = number(option, value(option, rest), 0, MAX_PORT);
        case "--seconds" -> options.seconds = number(option, value(option, rest), 1, MAX_SECONDS);
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

  private static int number(String option, String value, int least, int most) {
    try {
      int number = Integer.parseInt(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        "%s is %s, not a number from %d to %d".formatted(option, value, least, most));
  }

  private static PeerAddress peer(String text) {
    boolean isIpv6 = text.indexOf(':') != text.lastIndexOf(':') && !text.startsWith("[");
    Matcher peer = PEER.matcher(isIpv6 ? "[" + text + "]" : text);
    if (!peer.matches()) {
      throw new IllegalArgumentException("--peer is " + text + ", not HOST or HOST:PORT");
    }
    String host = peer.group(1) == null ? peer.group(2) : peer.group(1);
    String port = peer.group(3);
    return new PeerAddress(
        text, host, port == null ? DEFAULT_PORT : number("--peer's port", port, 1, MAX_PORT));
  }

  private static List<Path> directories(String text) {
    List<Path> directories =
        Arrays.stream(text.split(",")).filter(dir -> !dir.isBlank()).map(Path::of).toList();
    if (directories.isEmpty()) {
      throw new IllegalArgumentException("--local-dirs names no directory");
    }
    return directories;
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
        .filter(dirs -> dirs != null && !dirs.replace(",", "").isBlank())
        .findFirst()
        .orElse(System.getProperty("java.io.tmpdir"));
  }

  String provider() {
    return provider;
  }

  /** The node to READ from. */
  Optional<PeerAddress> peer() {
    return peer;
  }

  List<Path> localDirectories() {
    return localDirectories;
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
