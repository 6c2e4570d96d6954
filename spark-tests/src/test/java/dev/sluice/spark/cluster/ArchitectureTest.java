// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.cluster;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;

/** The packages of this module, of its main classes and of its scenarios. */
@AnalyzeClasses(locations = ArchitectureTest.OfThisModule.class)
class ArchitectureTest {
  static final class OfThisModule implements LocationProvider {
    @Override
    public Set<Location> get(Class<?> testClass) {
      return Set.of(location(SparkProcess.class), location(testClass));
    }

    private static Location location(Class<?> type) {
      return Location.of(type.getProtectionDomain().getCodeSource().getLocation());
    }
  }

  @ArchTest
  static final ArchRule PACKAGES_FORM_NO_CYCLES =
      slices().matching("dev.sluice.(**)").should().beFreeOfCycles();
}
