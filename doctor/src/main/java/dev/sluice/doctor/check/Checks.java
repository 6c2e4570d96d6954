// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.Cgroup;
import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.blocks.directory.RegionLimit;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import java.util.ArrayList;
import java.util.List;

/**
 * All questions about one node alone, in the order of the table. {@code CommandLine} makes them on
 * the main thread, {@code ExecutorDoctor} on a task's, for their {@link CheckRunner}. A check comes
 * after those whose findings explain its own: a finding is merged into earlier ones only.
 */
public final class Checks {
  /** Names of findings that explain why verbs do not work. */
  public static final List<String> VERBS_CAUSES =
      List.of(
          DevicesCheck.NAME,
          RdmaCoreCheck.NAME,
          DeviceFilesCheck.NAME,
          DevicesCheck.PORT,
          LockedMemoryCheck.NAME,
          ProviderCheck.NAME);

  private Checks() {}

  public static List<Check> of(CheckContext context) {
    CheckContext.Spark spark = context.spark();
    ReadsCheck reads = new ReadsCheck(spark.conf());
    if (context.rdma().provider().equals("off")) {
      return List.of(reads);
    }
    List<Check> checks = new ArrayList<>();
    SparkSettings accepted = spark.settings().accepted();
    Installation installation = new Installation(spark.jars(), accepted, spark.ownJar());
    checks.add(new JavaCheck(Runtime.version(), JvmDefect.collectorIsG1()));
    checks.add(new SparkCheck(spark.jars()));
    checks.add(
        new JavaOptionsCheck(
            SparkCheck.spark(spark.jars()).orElse(""), Runtime.version().feature(), accepted));
    checks.add(new SettingsCheck(spark.settings()));
    checks.add(new ManagerCheck(installation));
    if (spark.ownJar().isPresent()) { // Executors of a job have their jar.
      checks.add(new JarCheck(installation));
    }
    checks.add(new EnginesCheck(accepted));
    checks.add(reads);
    if (context.rdma().triesVerbs()) {
      checks.addAll(ofVerbs(context));
    }
    MemoryBudget budget = context.memory().budget();
    checks.add(
        new CgroupCheck(
            new Cgroup(context.root()), budget, spark.conf().grant(), objects(context)));
    boolean pins = context.rdma().triesVerbs() && context.memory().mode() == RegistrationMode.AUTO;
    checks.add(new BudgetCheck(budget, spark.conf().grant().overheadBytes(), pins));
    checks.add(new ProviderCheck(context));
    checks.add(new PortsCheck(accepted, spark.conf()));
    checks.add(new NodeConflictCheck(accepted, spark.conf()));
    checks.add(
        new DaemonCheck(
            spark.conf().isNodeRequired(), spark.conf().nodeSocket(), spark.conf().nodeUser()));
    context.memory().localDirectories().stream()
        .map(directory -> new RegistrationCheck(context, directory))
        .forEach(checks::add);
    return List.copyOf(checks);
  }

  private static List<Check> ofVerbs(CheckContext context) {
    Check lockedMemory =
        new LockedMemoryCheck(
            context.root(), System.getenv(), context.rdma().verbs().registeredBytes());
    NoDeviceCheck noDevice = new NoDeviceCheck(context.root());
    if (noDevice.applies()) {
      return List.of(noDevice, lockedMemory);
    }
    boolean usesRdmaCm = context.rdma().verbs().connect() == ConnectMode.CM;
    return List.of(
        new RdmaCoreCheck(context.root()),
        new DeviceFilesCheck(context.root(), usesRdmaCm, System.getenv()),
        new DevicesCheck(context),
        lockedMemory,
        new MappingsCheck(context.root()));
  }

  /** Returns the number of queue pairs each way, and of map outputs. */
  private static long objects(CheckContext context) {
    return 2L * context.rdma().transfer().maxQueuePairs()
        + RegionLimit.MAPPINGS.derive(context.root());
  }
}
