// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Every method of SLF4J that our classes call exists when the doctor runs without SLF4J. */
class LogTest {
  @Test
  void hasEveryMethodThatIsCalled() {
    Set<String> has =
        Arrays.stream(Log.class.getMethods())
            .map(method -> method.getName() + Arrays.toString(method.getParameterTypes()))
            .collect(Collectors.toSet());
    assertThat(calls()).isNotEmpty().isSubsetOf(has);
  }

  private static List<String> calls() {
    return new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.sluice.rdma", "dev.sluice.blocks")
            .stream()
            .flatMap(
                type ->
                    Stream.<JavaCodeUnitAccess<?>>concat(
                        type.getMethodCallsFromSelf().stream(),
                        type.getMethodReferencesFromSelf().stream()))
            .filter(call -> call.getTargetOwner().isEquivalentTo(Logger.class))
            .map(LogTest::signature)
            .distinct()
            .toList();
  }

  private static String signature(JavaCodeUnitAccess<?> call) {
    List<Class<?>> parameters =
        call.getTarget().getRawParameterTypes().stream()
            .<Class<?>>map(type -> type.reflect())
            .toList();
    return call.getName() + parameters;
  }

  @Test
  void theFactoryMakesASilentLogger() throws Exception {
    try (AloneLoader loader =
        new AloneLoader(Log.class.getProtectionDomain().getCodeSource().getLocation())) {
      Class<?> factory = loader.loadClass(LoggerFactory.class.getName());
      Object logger = factory.getMethod("getLogger", Class.class).invoke(null, LogTest.class);
      assertThat(logger).isInstanceOf(loader.loadClass(Logger.class.getName()));
      logger.getClass().getMethod("warn", String.class).invoke(logger, "nothing");
    }
  }
}
