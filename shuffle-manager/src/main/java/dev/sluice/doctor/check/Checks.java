// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.RegionLimit;
import dev.sluice.rdma.verbs.ConnectMode;
import dev.sluice.spark.conf.Cgroup;
import dev.sluice.spark.version.JvmDefect;
import java.util.ArrayList;
import java.util.List;

/**
 * All questions about one node alone, in the order of the table. The doctor of one node and {@code
 * ExecutorDoctor} ask for them. A check comes after those whose findings explain its own: a finding
 * is merged into earlier ones only.
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

  public static List<Check> of(CheckContext patient) {
    List<Check> checks = new ArrayList<>();
    checks.add(new JavaCheck(Runtime.version(), JvmDefect.collectorIsG1()));
    checks.add(new SparkCheck(patient.jars()));
    if (patient.rdma().triesVerbs()) {
      checks.addAll(ofVerbs(patient));
    }
    checks.add(
        new CgroupCheck(new Cgroup(patient.root()), patient.memory().budget(), objects(patient)));
    checks.add(new BudgetCheck(patient.memory().budget()));
    checks.add(new ProviderCheck(patient));
    patient.memory().localDirectories().stream()
        .map(directory -> new RegistrationCheck(patient, directory))
        .forEach(checks::add);
    return checks;
  }

  private static List<Check> ofVerbs(CheckContext patient) {
    Check lockedMemory =
        new LockedMemoryCheck(
            patient.root(), System.getenv(), patient.rdma().verbs().registeredBytes());
    NoDeviceCheck noDevice = new NoDeviceCheck(patient.root());
    if (noDevice.applies()) {
      return List.of(noDevice, lockedMemory);
    }
    boolean usesRdmaCm = patient.rdma().verbs().connect() == ConnectMode.CM;
    return List.of(
        new RdmaCoreCheck(patient.root()),
        new DeviceFilesCheck(patient.root(), usesRdmaCm),
        new DevicesCheck(patient),
        lockedMemory,
        new MappingsCheck(patient.root()));
  }

  /** Returns the number of queue pairs each way, and of map outputs. */
  private static long objects(CheckContext patient) {
    return 2L * patient.rdma().transfer().maxQueuePairs()
        + RegionLimit.MAPPINGS.derive(patient.root());
  }
}
