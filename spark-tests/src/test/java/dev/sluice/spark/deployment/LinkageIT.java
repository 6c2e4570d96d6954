// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The drop-in jar links against the Spark of this build, including code that no test runs. */
final class LinkageIT {
  @Test
  void everythingThatTheJarNamesIsThere() throws IOException {
    Linkage linkage = new Linkage();
    List<String> missing = new ArrayList<>();
    try (JarFile jar = new JarFile(DropInJar.path().toFile())) {
      for (JarEntry entry : classes(jar).toList()) {
        missing.addAll(linkage.missing(jar.getInputStream(entry).readAllBytes()));
      }
    }
    assertThat(missing).isEmpty();
  }

  /** Bytes of a class that names things that no class path has. */
  @Test
  void missingClassesAndMethodsAreReported() {
    ClassDesc missing = ClassDesc.of("org.apache.spark.Missing");
    byte[] bytes =
        ClassFile.of()
            .build(
                ClassDesc.of("dev.sluice.Example"),
                type ->
                    type.withMethodBody(
                        "call",
                        ConstantDescs.MTD_void,
                        ClassFile.ACC_STATIC,
                        code ->
                            code.invokestatic(missing, "method", ConstantDescs.MTD_void)
                                .invokestatic(
                                    ClassDesc.of("org.apache.spark.SparkEnv"),
                                    "missing",
                                    ConstantDescs.MTD_void)
                                .return_()));
    assertThat(new Linkage().missing(bytes))
        .anyMatch(words -> words.contains("needs org/apache/spark/Missing"))
        .anyMatch(words -> words.contains("needs org/apache/spark/SparkEnv.missing()V"));
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
