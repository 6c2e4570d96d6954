// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit.hadoop;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Files of a cluster's processes: Hadoop's jars and JDK, an installation of Sluice as on a node,
 * and configurations. {@link HadoopCluster} makes it and uses it on its thread. Immutable.
 *
 * @param root folder of this repository, whose modules are built
 */
record HadoopFiles(Path root) {
  private static final Path JVMS = Path.of("/usr/lib/jvm");

  /** The release of Java that Hadoop's own scripts and images use. */
  private static final String HADOOP_JAVA = "(java|jdk|temurin)-17\\b.*";

  /** Folder of Hadoop's jars below the root; the property names that of another version. */
  private static final String HADOOP_JARS =
      System.getProperty("sluice.hadoop.jars", "testkit/target/hadoop/jars");

  /** Modules whose jars, with those in node-server/target/lib, are the installation. */
  private static final List<String> INSTALLED =
      List.of("node-server", "block-server", "rdma-net", "verbs", "mapreduce-reader");

  /** Name of the file by which Hadoop configures logging in containers. */
  private static final String LOGGING_FILE = "container-log4j.properties";

  private static final String LOGGING =
      """
      log4j.rootLogger=INFO, console
      log4j.appender.console=org.apache.log4j.ConsoleAppender
      log4j.appender.console.target=System.err
      log4j.appender.console.layout=org.apache.log4j.PatternLayout
      log4j.appender.console.layout.ConversionPattern=%d{HH:mm:ss,SSS} %-5p [%t] %c{1}: %m%n
      """;

  /** Returns a class path entry with Hadoop's jars. */
  String hadoopJars() {
    return root.resolve(HADOOP_JARS).toAbsolutePath() + "/*";
  }

  /** Returns the jar of the auxiliary service. */
  Path serviceJar() throws IOException {
    return jar("yarn-service");
  }

  /** Returns the jar of the shuffle plug-in in an installation. */
  static Path plugin(Path home) {
    return home.resolve("mapreduce/sluice-mapreduce.jar");
  }

  /** Returns the JDK of Hadoop's processes: 17 if the machine has it, otherwise this process's. */
  static Path hadoopJava() throws IOException {
    if (Files.isDirectory(JVMS)) {
      try (Stream<Path> jvms = Files.list(JVMS)) {
        return jvms.filter(jvm -> jvm.getFileName().toString().matches(HADOOP_JAVA))
            .filter(jvm -> Files.isExecutable(jvm.resolve("bin/java")))
            .findFirst()
            .orElseGet(HadoopFiles::ownJava);
      }
    }
    return ownJava();
  }

  /** Returns the JDK of node daemons and reduce tasks. */
  static Path ownJava() {
    return Path.of(System.getProperty("java.home"));
  }

  /** Installs Sluice as docs/node-daemon.md describes. */
  void install(Path home) throws IOException {
    Path jars = Files.createDirectories(home.resolve("jars"));
    for (String file :
        List.of("bin/sluice-node", "bin/lib.sh", "conf/sluice-node.log4j2.properties")) {
      Files.createDirectories(home.resolve(file).getParent());
      Files.copy(root.resolve(file), home.resolve(file));
    }
    for (String module : INSTALLED) {
      link(jar(module), jars);
    }
    Files.createDirectories(plugin(home).getParent());
    Files.createSymbolicLink(plugin(home), jar("mapreduce").toAbsolutePath());
    for (Path library : jars(root.resolve("node-server/target/lib"), _ -> true)) {
      link(library, jars);
    }
  }

  private static void link(Path jar, Path jars) throws IOException {
    Files.createSymbolicLink(jars.resolve(jar.getFileName()), jar.toAbsolutePath());
  }

  /** Returns a module's jar, which its name and a version precede. */
  private Path jar(String module) throws IOException {
    Path target = root.resolve(module).resolve("target");
    List<Path> jars = jars(target, name -> name.matches("sluice-[a-z-]+-[0-9.]+\\.jar"));
    if (jars.size() != 1) {
      throw new IOException(target + " has " + jars.size() + " jars of the module, not 1");
    }
    return jars.getFirst();
  }

  private static List<Path> jars(Path folder, Predicate<String> names) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> names.test(file.getFileName().toString())).toList();
    }
  }

  /** Writes a folder of configuration, for the class path of a process. */
  static void configure(Path folder, Map<String, String> settings) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve(LOGGING_FILE), LOGGING);
    String properties =
        settings.entrySet().stream()
            .map(
                each ->
                    "  <property><name>%s</name><value>%s</value></property>\n"
                        .formatted(each.getKey(), each.getValue()))
            .collect(Collectors.joining("", "<configuration>\n", "</configuration>\n"));
    // In this order, each file overrides the defaults of the components before it.
    for (String component : List.of("core", "yarn", "mapred")) {
      Files.writeString(folder.resolve(component + "-site.xml"), properties);
    }
  }

  /**
   * Returns a builder that starts a main class of Hadoop.
   *
   * @param folder folder of the process, with its configuration in {@code conf}; gets its logs
   */
  ProcessBuilder hadoop(Path folder, String main) throws IOException {
    return process(folder, hadoopJava(), List.of(serviceJar().toString()), List.of(main));
  }

  /** Returns a builder that starts a main class of the testkit, with classes of Hadoop. */
  ProcessBuilder ofTestkit(Path folder, Class<?> main, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(main.getName()));
    command.addAll(arguments);
    return process(
        folder, ownJava(), List.of(serviceJar().toString(), jar("testkit").toString()), command);
  }

  private ProcessBuilder process(
      Path folder, Path java, List<String> ownJars, List<String> command) {
    List<String> classPath = new ArrayList<>(List.of(folder.resolve("conf").toString()));
    classPath.addAll(ownJars);
    classPath.add(hadoopJars());
    ProcessBuilder builder =
        new ProcessBuilder(
            java.resolve("bin/java").toString(),
            "-Xmx512m",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-Dlog4j.configuration=" + LOGGING_FILE,
            "-Dyarn.log.dir=" + folder,
            "-cp",
            String.join(File.pathSeparator, classPath));
    builder.command().addAll(command);
    builder.environment().keySet().removeIf(name -> name.matches("(HADOOP|YARN|MAPRED)_.*"));
    builder.environment().put("JAVA_HOME", java.toString());
    return builder;
  }
}
