package dev.sluice.spark;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What a module may use: only those to its left, and only what its folder is there for. */
@AnalyzeClasses(
    packages = "dev.sluice",
    importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.NoTestJars.class})
class ArchitectureTest {
  /** What tests of one module use of another one's comes as a jar. */
  static final class NoTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("-tests.jar");
    }
  }

  private static final String RDMA_NET = "dev.sluice.rdma..";
  private static final String BLOCK_SERVER = "dev.sluice.blocks..";
  private static final String SHUFFLE_MANAGER = "dev.sluice.spark..";
  private static final String DOCTOR = "dev.sluice.doctor..";
  private static final String VERBS = "dev.sluice.rdma.verbs..";
  private static final String TOOLS = "dev.sluice.rdma.tools..";

  @ArchTest
  static final ArchRule RDMA_NET_USES_NO_MODULE =
      noClasses()
          .that()
          .resideInAPackage(RDMA_NET)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(BLOCK_SERVER, SHUFFLE_MANAGER, DOCTOR);

  @ArchTest
  static final ArchRule RDMA_NET_USES_JDK_AND_SLF4J =
      classes()
          .that()
          .resideInAPackage(RDMA_NET)
          .and()
          .resideOutsideOfPackage(TOOLS)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(RDMA_NET, "java..", "jdk..", "org.slf4j..");

  @ArchTest
  static final ArchRule TOOLS_USE_THE_BINDING_AND_PICOCLI =
      classes()
          .that()
          .resideInAPackage(TOOLS)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              TOOLS,
              "dev.sluice.rdma",
              "dev.sluice.rdma.verbs.ffi",
              "dev.sluice.rdma.verbs.ibv",
              "dev.sluice.rdma.verbs.cm",
              "java..",
              "picocli..");

  @ArchTest
  static final ArchRule NOTHING_USES_THE_TOOLS =
      noClasses()
          .that()
          .resideOutsideOfPackage(TOOLS)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(TOOLS);

  @ArchTest
  static final ArchRule BLOCK_SERVER_USES_RDMA_NET =
      noClasses()
          .that()
          .resideInAPackage(BLOCK_SERVER)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(SHUFFLE_MANAGER, DOCTOR);

  @ArchTest
  static final ArchRule WHO_ASKS_KNOWS_PEERS_BY_THEIR_MESSAGES =
      noClasses()
          .that()
          .resideInAPackage("dev.sluice.blocks.client")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.sluice.blocks", "dev.sluice.blocks.server", "dev.sluice.blocks.node");

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
              // The return type of ManagedBuffer#convertToNetty.
              "io.netty.buffer..");

  /** It runs where there is no Spark; what it uses of ours has to do without as well. */
  @ArchTest
  static final ArchRule THE_DOCTOR_NEEDS_THE_JDK_ALONE =
      classes()
          .that()
          .resideInAPackage(DOCTOR)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("dev.sluice..", "java..");

  /** Of the three modules. */
  @ArchTest
  static final ArchRule PACKAGES_FORM_NO_CYCLES =
      slices().matching("dev.sluice.(**)").should().beFreeOfCycles();

  private static boolean isBeyondTransport(JavaClass type) {
    String name = type.getPackageName();
    return name.startsWith("org.apache.spark") && !name.startsWith("org.apache.spark.network");
  }
}
