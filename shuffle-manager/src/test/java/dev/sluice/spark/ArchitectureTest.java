// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Checks that a module uses only modules to its left, and libraries only where they belong. */
@AnalyzeClasses(
    packages = "dev.sluice",
    importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.NoTestJars.class})
class ArchitectureTest {
  /** Excludes jars of tests, which tests of one module use of another. */
  static final class NoTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("-tests.jar");
    }
  }

  private static final String RDMA_NET = "dev.sluice.rdma..";
  private static final String BLOCK_SERVER = "dev.sluice.blocks..";
  private static final String NODE_SERVER = "dev.sluice.node..";
  private static final String SHUFFLE_MANAGER = "dev.sluice.spark..";
  private static final String DOCTOR = "dev.sluice.doctor..";
  private static final String EVENT_LOGS = "dev.sluice.doctor.qualify..";
  private static final String VERBS = "dev.sluice.verbs..";

  @ArchTest
  static final ArchRule VERBS_USES_JDK_AND_SLF4J =
      classes()
          .that()
          .resideInAPackage(VERBS)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(VERBS, "java..", "jdk..", "org.slf4j..");

  @ArchTest
  static final ArchRule RDMA_NET_USES_VERBS_JDK_AND_SLF4J =
      classes()
          .that()
          .resideInAPackage(RDMA_NET)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(RDMA_NET, VERBS, "java..", "jdk..", "org.slf4j..");

  @ArchTest
  static final ArchRule BLOCK_SERVER_USES_RDMA_NET =
      noClasses()
          .that()
          .resideInAPackage(BLOCK_SERVER)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(NODE_SERVER, SHUFFLE_MANAGER, DOCTOR);

  /** The daemon is a process of its own; the drop-in jar does not contain it. */
  @ArchTest
  static final ArchRule NODE_SERVER_USES_BLOCK_SERVER =
      noClasses()
          .that()
          .resideInAPackage(NODE_SERVER)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(SHUFFLE_MANAGER, DOCTOR);

  /** Its Spark job is the shuffle manager's. */
  @ArchTest
  static final ArchRule THE_DOCTOR_USES_BLOCK_SERVER =
      noClasses()
          .that()
          .resideInAPackage(DOCTOR)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(SHUFFLE_MANAGER);

  @ArchTest
  static final ArchRule THE_DROP_IN_JAR_DOES_NOT_NEED_THE_DAEMON =
      noClasses()
          .that()
          .resideInAnyPackage(SHUFFLE_MANAGER, DOCTOR)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(NODE_SERVER);

  @ArchTest
  static final ArchRule WHO_ASKS_KNOWS_PEERS_BY_THEIR_MESSAGES =
      noClasses()
          .that()
          .resideInAPackage("dev.sluice.blocks.client")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.sluice.blocks.directory",
              "dev.sluice.blocks.registry",
              "dev.sluice.blocks.staging",
              "dev.sluice.blocks.server",
              "dev.sluice.blocks.handover");

  /** Each layer of the serving side uses only those below it. */
  @ArchTest
  static final ArchRule BLOCKS_ARE_SERVED_IN_LAYERS =
      layeredArchitecture()
          .consideringOnlyDependenciesInAnyPackage(BLOCK_SERVER)
          .layer("directory")
          .definedBy("dev.sluice.blocks.directory")
          .layer("registry")
          .definedBy("dev.sluice.blocks.registry")
          .layer("staging")
          .definedBy("dev.sluice.blocks.staging")
          .layer("server")
          .definedBy("dev.sluice.blocks.server")
          .layer("handover")
          .definedBy("dev.sluice.blocks.handover")
          .whereLayer("directory")
          .mayOnlyBeAccessedByLayers("registry", "staging")
          .whereLayer("registry")
          .mayOnlyBeAccessedByLayers("staging", "server", "handover")
          .whereLayer("staging")
          .mayOnlyBeAccessedByLayers("server")
          .whereLayer("server")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("handover")
          .mayNotBeAccessedByAnyLayer();

  /** The driver takes Spark's transport from the executor's side, never the other way round. */
  @ArchTest
  static final ArchRule EXECUTORS_DO_NOT_USE_THE_DRIVERS_SIDE =
      noClasses()
          .that()
          .resideInAPackage("dev.sluice.spark.executor")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.sluice.spark.driver");

  @ArchTest
  static final ArchRule ONLY_THE_SHUFFLE_MANAGER_USES_SPARK_BEYOND_ITS_TRANSPORT =
      noClasses()
          .that()
          .resideOutsideOfPackage(SHUFFLE_MANAGER)
          .should()
          .dependOnClassesThat(
              DescribedPredicate.describe(
                  "are Spark's but not its transport's", ArchitectureTest::isBeyondTransport));

  @ArchTest
  static final ArchRule NATIVE_ACCESS_LIES_IN_ONE_PACKAGE =
      noClasses()
          .that()
          .resideOutsideOfPackage(VERBS)
          .should()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.lang.foreign.Linker")
          .orShould()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.lang.foreign.SymbolLookup");

  @ArchTest
  static final ArchRule THE_DROP_IN_JAR_NEEDS_ONLY_WHAT_SPARK_BRINGS =
      classes()
          .that()
          .resideInAPackage(SHUFFLE_MANAGER)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "dev.sluice..",
              "java..",
              "scala..",
              "org.apache.spark..",
              "org.slf4j..",
              "com.codahale.metrics..",
              "com.esotericsoftware.kryo..",
              // The parameter of WebUIPage#render.
              "jakarta.servlet.http..",
              // The return type of ManagedBuffer#convertToNetty.
              "io.netty.buffer..");

  /** A history server may run on a JVM that loads no other class of Sluice. */
  @ArchTest
  static final ArchRule THE_TAB_IN_SPARKS_UI_STANDS_ALONE =
      classes()
          .that()
          .resideInAPackage("dev.sluice.spark.ui")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "dev.sluice.spark.ui",
              "java..",
              "scala..",
              "org.apache.spark..",
              "org.slf4j..",
              "jakarta.servlet.http..");

  /** The doctor runs without Spark, so classes that it uses must do without as well. */
  @ArchTest
  static final ArchRule THE_DOCTOR_NEEDS_THE_JDK_ALONE =
      classes()
          .that()
          .resideInAPackage(DOCTOR)
          .and()
          .resideOutsideOfPackage(EVENT_LOGS)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("dev.sluice..", "java..");

  /** The doctor takes these libraries from Spark's jars on the machine. */
  @ArchTest
  static final ArchRule EVENT_LOGS_NEED_JACKSON_AND_CODECS =
      classes()
          .that()
          .resideInAPackage(EVENT_LOGS)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "dev.sluice..",
              "java..",
              "com.fasterxml.jackson.core..",
              "com.github.luben.zstd..",
              "com.ning.compress.lzf..",
              "net.jpountz.lz4..",
              "org.xerial.snappy..");

  /** Covers the packages of all modules. */
  @ArchTest
  static final ArchRule PACKAGES_FORM_NO_CYCLES =
      slices().matching("dev.sluice.(**)").should().beFreeOfCycles();

  private static boolean isBeyondTransport(JavaClass type) {
    String name = type.getPackageName();
    return name.startsWith("org.apache.spark") && !name.startsWith("org.apache.spark.network");
  }
}
