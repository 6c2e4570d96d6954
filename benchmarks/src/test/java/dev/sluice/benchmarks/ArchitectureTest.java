// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;

/** The packages of this module's main classes. */
@AnalyzeClasses(locations = ArchitectureTest.MainClasses.class)
class ArchitectureTest {
  static final class MainClasses implements LocationProvider {
    @Override
    public Set<Location> get(Class<?> testClass) {
      return Set.of(
          Location.of(Comparison.class.getProtectionDomain().getCodeSource().getLocation()));
    }
  }

  /** Others are other modules'. */
  @ArchTest
  static final ArchRule ALL_IS_IN_PACKAGES_OF_THE_MODULE =
      classes()
          .that()
          .resideInAPackage("dev.sluice..")
          .should()
          .resideInAPackage("dev.sluice.benchmarks..");

  /** Shared classes belong in the outermost package. */
  @ArchTest
  static final ArchRule PACKAGES_FORM_NO_CYCLES =
      slices().matching("dev.sluice.(**)").should().beFreeOfCycles();
}
