// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
          java -jar <this jar> doctor size [--help]    memory and limits for a shuffle
          java -jar <this jar> doctor qualify EVENTLOG stages of an application that would gain
            --conf KEY=VALUE       setting of Spark, as for spark-submit; may be repeated
            --properties-file FILE settings of Spark (spark-defaults.conf in SPARK_CONF_DIR or in
                                   SPARK_HOME/conf), as spark-submit without --load-spark-defaults
            --fix                  print the lines of files that mend the findings; change no file
            --peer HOST[:PORT]     READ from the node where a doctor serves
            --serve                let the doctors of other nodes READ from this one
            --port PORT            TCP port of --serve (%d)
            --seconds N            duration of --serve in seconds (3600)
            --provider PROVIDER    auto, verbs or soft (as set for Spark, else auto)
            --local-dirs DIR,...   Spark's local directories (SPARK_LOCAL_DIRS, LOCAL_DIRS, as set
                                   for Spark, else /tmp)
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

  private static final Set<String> OF_LOOKING = Set.of("--peer", "--local-dirs", "--fix");

  private static final int MAX_PORT = 65_535;
  private static final int MAX_SECONDS = 1_000_000;

  /** An address in brackets, or a name without colons; with or without a port. */
  private static final Pattern PEER = Pattern.compile("(?:\\[([^\\]]+)\\]|([^:\\[]+))(?::(.+))?");

  private static final Set<String> PROVIDERS = Set.of("auto", "verbs", "soft");

  private Optional<String> provider = Optional.empty();
  private Optional<Peer> peer = Optional.empty();
  private Optional<List<Path>> localDirectories = Optional.empty();
  private Optional<Path> propertiesFile = Optional.empty();
  private final Map<String, String> settings = new LinkedHashMap<>();
  private int port = DEFAULT_PORT;
  private int seconds = 3600;
  private boolean serves;
  private boolean fix;
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
      if (!given.add(option) && !option.equals("--conf")) {
        throw new IllegalArgumentException(option + " is given twice");
      }
      switch (option) {
        case "--peer" -> options.peer = Optional.of(peer(value(option, rest)));
        case "--provider" -> options.provider = Optional.of(provider(value(option, rest)));
        case "--local-dirs" ->
            options.localDirectories = Optional.of(directories(value(option, rest)));
        case "--properties-file" ->
            options.propertiesFile = Optional.of(Path.of(value(option, rest)));
        case "--conf" -> addSetting(options.settings, value(option, rest));
        case "--fix" -> options.fix = true;
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
    if (options.fix && options.json) {
      throw new IllegalArgumentException(
          "--fix cannot be combined with --json, where each finding has its lines");
    }
    return options;
  }

  /**
   * Adds a setting that is given as KEY=VALUE.
   *
   * @throws IllegalArgumentException for another text, and for a key that has another value
   */
  public static void addSetting(Map<String, String> settings, String text) {
    int end = text.indexOf('=');
    if (end < 1) {
      throw new IllegalArgumentException("--conf is " + text + ", not KEY=VALUE");
    }
    String key = text.substring(0, end).strip();
    if (settings.put(key, text.substring(end + 1).strip()) != null) {
      throw new IllegalArgumentException("--conf sets " + key + " twice");
    }
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

  /** Returns the directories that Spark and YARN set; empty if they set none. */
  private static Optional<String> environmentsDirectories() {
    return Stream.of("SPARK_LOCAL_DIRS", "LOCAL_DIRS")
        .map(System.getenv()::get)
        .filter(dirs -> dirs != null && !dirs.replace(",", "").isBlank())
        .findFirst();
  }

  /** Returns the provider that is asked for; empty if Spark's settings decide. */
  public Optional<String> provider() {
    return provider;
  }

  /** Returns the node to READ from. */
  public Optional<Peer> peer() {
    return peer;
  }

  /**
   * Returns Spark's local directories, in Spark's order of precedence.
   *
   * @param configured value of spark.local.dir; empty if it is not set
   */
  public List<Path> localDirectories(String configured) {
    return localDirectories.orElseGet(
        () ->
            directories(
                environmentsDirectories()
                    .orElse(
                        configured.replace(",", "").isBlank()
                            ? System.getProperty("java.io.tmpdir")
                            : configured)));
  }

  /** Returns the file of Spark's settings; empty for the one of the environment. */
  public Optional<Path> propertiesFile() {
    return propertiesFile;
  }

  /** Returns the settings that override those of the file. */
  public Map<String, String> settings() {
    return settings;
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

  /** Returns true if lines of files are printed in place of the findings. */
  public boolean fix() {
    return fix;
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
