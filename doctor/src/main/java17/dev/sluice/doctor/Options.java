// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Options of the doctor on a command line, for any JVM that Spark runs on. {@link Main} checks
 * them, and {@code CommandLine} parses them again behind another class loader, both on the main
 * thread. A new option belongs in {@link #parse}, in {@link #HELP}, and in one of the two sets if
 * it has no effect with or without --serve.
 */
public final class Options {
  /** Port of --serve and of --peer; the two only have to agree. */
  static final int DEFAULT_PORT = 7391;

  static final String HELP =
      String.format(
          """
          java -jar <this jar> doctor [option...]
            --peer HOST[:PORT]     READ from the node where a doctor serves
            --serve                let the doctors of other nodes READ from this one
            --port PORT            TCP port of --serve (%d)
            --seconds N            duration of --serve in seconds (3600)
            --provider PROVIDER    auto, verbs or soft (auto)
            --local-dirs DIR,...   Spark's local directories (SPARK_LOCAL_DIRS, LOCAL_DIRS, else /tmp)
            --json                 print one object, with an array of findings
            --version              print the versions of Sluice and Java
          Exit status: 0 if all is ok, 1 with a warning, 2 with a failure or wrong options.
          """,
          DEFAULT_PORT);

  /**
   * A node where a doctor serves.
   *
   * @param text the option as it was given
   */
  public record Peer(String text, String host, int port) {}

  /** Options that have an effect only with --serve, and those that have one only without it. */
  private static final Set<String> OF_SERVING = Set.of("--port", "--seconds");

  private static final Set<String> OF_LOOKING = Set.of("--peer", "--local-dirs");

  private static final int MAX_PORT = 65_535;
  private static final int MAX_SECONDS = 1_000_000;

  /** An address in brackets, or a name without colons; with or without a port. */
  private static final Pattern PEER = Pattern.compile("(?:\\[([^\\]]+)\\]|([^:\\[]+))(?::(.+))?");

  private static final Set<String> PROVIDERS = Set.of("auto", "verbs", "soft");

  private String provider = "auto";
  private Optional<Peer> peer = Optional.empty();
  private List<Path> localDirectories = directories(defaultDirectories());
  private int port = DEFAULT_PORT;
  private int seconds = 3600;
  private boolean serves;
  private boolean json;
  private boolean help;
  private boolean version;

  private Options() {}

  /**
   * @throws IllegalArgumentException for an unknown option, one that is given twice or without its
   *     value, and one that would have no effect
   */
  public static Options parse(List<String> arguments) {
    Options options = new Options();
    Set<String> given = new TreeSet<>();
    for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
      String option = rest.next();
      if (!given.add(option)) {
        throw new IllegalArgumentException(option + " is given twice");
      }
      switch (option) {
        case "--peer" -> options.peer = Optional.of(peer(value(option, rest)));
        case "--provider" -> options.provider = provider(value(option, rest));
        case "--local-dirs" -> options.localDirectories = directories(value(option, rest));
        case "--port" -> options.port = number(option, value(option, rest), 0, MAX_PORT);
        case "--seconds" -> options.seconds = number(option, value(option, rest), 1, MAX_SECONDS);
        case "--serve" -> options.serves = true;
        case "--json" -> options.json = true;
        case "--help", "-h" -> options.help = true;
        case "--version" -> options.version = true;
        default -> throw new IllegalArgumentException("there is no option " + option);
      }
    }
    for (String option : options.serves ? OF_LOOKING : OF_SERVING) {
      if (given.contains(option)) {
        throw new IllegalArgumentException(
            option + (options.serves ? " cannot be combined with --serve" : " needs --serve"));
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
      // Reported below.
    }
    throw new IllegalArgumentException(
        String.format("%s is %s, not a number from %d to %d", option, value, least, most));
  }

  private static Peer peer(String text) {
    boolean isIpv6 = text.indexOf(':') != text.lastIndexOf(':') && !text.startsWith("[");
    Matcher peer = PEER.matcher(isIpv6 ? "[" + text + "]" : text);
    if (!peer.matches()) {
      throw new IllegalArgumentException("--peer is " + text + ", not HOST or HOST:PORT");
    }
    String host = peer.group(1) == null ? peer.group(2) : peer.group(1);
    String port = peer.group(3);
    return new Peer(
        text, host, port == null ? DEFAULT_PORT : number("--peer's port", port, 1, MAX_PORT));
  }

  private static List<Path> directories(String text) {
    List<Path> directories =
        Arrays.stream(text.split(","))
            .filter(dir -> !dir.isBlank())
            .map(Path::of)
            .collect(Collectors.toList());
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

  /** Returns the directories that Spark and YARN set. */
  private static String defaultDirectories() {
    return Stream.of("SPARK_LOCAL_DIRS", "LOCAL_DIRS")
        .map(System.getenv()::get)
        .filter(dirs -> dirs != null && !dirs.replace(",", "").isBlank())
        .findFirst()
        .orElse(System.getProperty("java.io.tmpdir"));
  }

  public String provider() {
    return provider;
  }

  /** Returns the node to READ from. */
  public Optional<Peer> peer() {
    return peer;
  }

  public List<Path> localDirectories() {
    return localDirectories;
  }

  public int port() {
    return port;
  }

  public int seconds() {
    return seconds;
  }

  public boolean serves() {
    return serves;
  }

  public boolean json() {
    return json;
  }

  public boolean help() {
    return help;
  }

  public boolean version() {
    return version;
  }
}
