// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.other.OtherJava;
import java.io.IOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The drop-in jar links against the Spark of this build and the JDKs that it runs on, including
 * code that no test runs.
 */
@EnabledForJreRange(
    minVersion = 24,
    disabledReason = "it reads class files by an API that is final from JDK 24 on")
final class LinkageIT {
  /** Modules that users run beside the drop-in jar. */
  private static final List<String> PROGRAMS =
      List.of("node-server", "verbs-tools", "examples/verbs", "testkit");

  private static final MethodType NOTHING = MethodType.methodType(void.class);

  @Test
  void everythingThatTheJarNamesIsThere() throws IOException {
    assertThat(missing(Linkage.toClassPath())).isEmpty();
  }

  /** JDK 21 has the foreign function API as a preview, with other names of some methods. */
  @ParameterizedTest
  @ValueSource(ints = {21, 22, 25})
  void everythingThatTheJarNamesIsInTheJdk(int release) throws IOException {
    Linkage linkage = Linkage.toJdk(release);
    assertThat(missing(linkage)).isEmpty();
    for (String program : PROGRAMS) {
      Path classes = DropInJar.project().resolve(program).resolve("target/classes");
      try (Stream<Path> files = Files.walk(classes)) {
        for (Path file : files.filter(it -> it.toString().endsWith(".class")).toList()) {
          assertThat(linkage.missing(Files.readAllBytes(file))).as(file.toString()).isEmpty();
        }
      }
    }
  }

  @Test
  void everythingThatTheJarNamesIsInJdk27() throws IOException {
    String home = OtherJava.home(27).toString();
    try (FileSystem files =
        FileSystems.newFileSystem(URI.create("jrt:/"), Map.of("java.home", home))) {
      assertThat(missing(Linkage.toJdk(files))).isEmpty();
    }
  }

  /** A method that JDK 21 has by another name. */
  @Test
  void methodsThatAnOlderJdkLacksAreReported() throws IOException {
    byte[] caller =
        Linkage.classThatCalls(
            "java.lang.foreign.MemorySegment",
            "getString",
            MethodType.methodType(String.class, long.class));
    assertThat(Linkage.toJdk(21).missing(caller))
        .singleElement()
        .asString()
        .contains("needs java/lang/foreign/MemorySegment.getString(J)Ljava/lang/String;");
    assertThat(Linkage.toJdk(22).missing(caller)).isEmpty();
  }

  private static List<String> missing(Linkage linkage) throws IOException {
    List<String> missing = new ArrayList<>();
    try (JarFile jar = new JarFile(DropInJar.path().toFile())) {
      for (JarEntry entry : classes(jar).toList()) {
        missing.addAll(linkage.missing(jar.getInputStream(entry).readAllBytes()));
      }
    }
    return missing;
  }

  @Test
  void missingClassesAndMethodsAreReported() {
    Linkage linkage = Linkage.toClassPath();
    assertThat(
            linkage.missing(Linkage.classThatCalls("org.apache.spark.Missing", "method", NOTHING)))
        .anyMatch(words -> words.contains("needs org/apache/spark/Missing"));
    assertThat(
            linkage.missing(
                Linkage.classThatCalls("org.apache.spark.SparkEnv", "missing", NOTHING)))
        .anyMatch(words -> words.contains("needs org/apache/spark/SparkEnv.missing()"));
  }

  @Test
  void everyMethodThatSparkMayCallIsImplemented() throws Exception {
    List<Method> open = new ArrayList<>();
    try (JarFile jar = new JarFile(DropInJar.path().toFile())) {
      for (JarEntry entry : classes(jar).toList()) {
        String name = entry.getName().replace('/', '.').replaceFirst("\\.class$", "");
        Class<?> type = Class.forName(name, false, getClass().getClassLoader());
        if (!Modifier.isAbstract(type.getModifiers())) {
          Stream.of(type.getMethods())
              .filter(method -> Modifier.isAbstract(method.getModifiers()))
              .forEach(open::add);
        }
      }
    }
    assertThat(open).isEmpty();
  }

  private static Stream<JarEntry> classes(JarFile jar) {
    return jar.stream().filter(entry -> entry.getName().endsWith(".class"));
  }
}
