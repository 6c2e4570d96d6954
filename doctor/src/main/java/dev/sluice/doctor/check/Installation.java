// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.FixLine;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Settings by which an application gets Sluice: its shuffle manager, and the jar with it. The first
 * without the second ends in ClassNotFoundException. {@link ManagerCheck} and {@link JarCheck} ask
 * it, each on a thread of its own; immutable.
 *
 * @param jars Spark's jars
 * @param own the jar that this doctor runs from; empty in a job, and where there is none
 */
public record Installation(List<Path> jars, SparkSettings settings, Optional<Path> own) {
  /** Key of the shuffle manager. */
  public static final String MANAGER = "spark.shuffle.manager";

  /** Class of Sluice's shuffle manager. */
  public static final String OURS = "dev.sluice.spark.RdmaShuffleManager";

  /** Class of the shuffle manager for DataFusion Comet, which has a jar of its own. */
  static final String FOR_COMET = "dev.sluice.spark.comet.CometRdmaShuffleManager";

  /** Key of the jars of an application. */
  public static final String JARS = "spark.jars";

  /** Text that a user has to replace. */
  private static final String PLACEHOLDER = "/PATH/TO/sluice-spark-4-VERSION.jar";

  private static final String NAME_START = "sluice-spark-";

  /** Keys whose values name jars of driver and executors. */
  private static final List<String> OF_ALL =
      List.of(JARS, "spark.jars.packages", "spark.yarn.dist.jars");

  /** Keys whose values together name jars of driver and executors. */
  private static final List<String> CLASS_PATHS =
      List.of("spark.driver.extraClassPath", "spark.executor.extraClassPath");

  /** Keys whose values name files with Spark's jars, which may have ours among them. */
  private static final List<String> ARCHIVES =
      List.of("spark.yarn.archive", "spark.yarn.jars", "spark.kubernetes.container.image");

  /** Keys that may name the jar, in words. */
  static final String PLACES =
      String.join(", ", OF_ALL) + ", " + String.join(" with ", CLASS_PATHS);

  /** Returns the drop-in jar that this process runs from; empty if it runs from other files. */
  public static Optional<Path> ownJar() {
    try {
      Path code =
          Path.of(Installation.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return Optional.of(code).filter(Installation::isOurs);
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the path of a jar for a line to paste, or a text in its place. */
  public static String path(Optional<Path> jar) {
    return jar.map(Path::toString).orElse(PLACEHOLDER);
  }

  private static boolean isOurs(Path jar) {
    String name = String.valueOf(jar.getFileName());
    return name.startsWith(NAME_START) && name.endsWith(".jar");
  }

  /** Returns the manager that is set; empty if none is. */
  Optional<String> manager() {
    return settings.get(MANAGER);
  }

  /** Returns the names of Sluice's jars among Spark's. */
  List<String> installed() {
    return jars.stream()
        .filter(Installation::isOurs)
        .map(jar -> jar.getFileName().toString())
        .sorted()
        .toList();
  }

  /** Returns the place of the jar, in words; empty if driver or executors do not find it. */
  Optional<String> place() {
    Stream<String> ofAll = OF_ALL.stream().filter(this::namesIt).map(this::setting);
    Stream<String> classPaths =
        CLASS_PATHS.stream().allMatch(this::namesIt)
            ? CLASS_PATHS.stream().map(this::setting)
            : Stream.empty();
    return Stream.of(installed().stream(), ofAll, classPaths).flatMap(places -> places).findFirst();
  }

  /** Returns true if the application's shuffle manager is one of Sluice's. */
  boolean hasOurManager() {
    return manager().filter(name -> name.equals(OURS) || name.equals(FOR_COMET)).isPresent();
  }

  /** Returns an archive or an image that may have the jar, in words; empty if none is set. */
  Optional<String> archive() {
    return ARCHIVES.stream()
        .filter(key -> settings.get(key).isPresent())
        .map(this::setting)
        .findFirst();
  }

  private String setting(String key) {
    return key + "=" + settings.get(key).orElse("");
  }

  private boolean namesIt(String key) {
    String value = settings.get(key).orElse("");
    return value.contains(NAME_START) || value.endsWith("*");
  }

  /**
   * Returns true if other applications with these settings find the jar. In a job {@link #JARS} has
   * the jar because the doctor is the application.
   */
  boolean isForAll() {
    return !installed().isEmpty() || own.isPresent() && place().isPresent();
  }

  /** Returns the line that gives the jar to applications, with the jars that they have. */
  FixLine jarLine() {
    Stream<String> others =
        Stream.of(settings.get(JARS).orElse("").split(","))
            .map(String::strip)
            .filter(jar -> !jar.isEmpty() && !jar.contains(NAME_START));
    return FixLine.setting(
        JARS, Stream.concat(others, Stream.of(path(own))).collect(Collectors.joining(",")));
  }
}
