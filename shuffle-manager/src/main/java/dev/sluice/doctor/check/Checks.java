package dev.sluice.doctor.check;

import dev.sluice.blocks.RegionLimit;
import dev.sluice.rdma.verbs.ConnectMode;
import dev.sluice.spark.conf.Cgroup;
import dev.sluice.spark.version.JvmDefect;
import java.util.ArrayList;
import java.util.List;

/** All that is asked of one node alone, in the order of the table. */
public final class Checks {
  private Checks() {}

  public static List<Check> of(Patient patient) {
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

  private static List<Check> ofVerbs(Patient patient) {
    boolean usesRdmaCm = patient.rdma().verbs().connect() == ConnectMode.CM;
    return List.of(
        new RdmaCoreCheck(patient.root()),
        new DeviceFilesCheck(patient.root(), usesRdmaCm),
        new DevicesCheck(patient),
        new LockedMemoryCheck(patient.root(), patient.rdma().verbs().registeredBytes()),
        new MappingsCheck(patient.root()));
  }

  /** Queue pairs each way, and map outputs. */
  private static long objects(Patient patient) {
    return 2L * patient.rdma().transfer().maxQueuePairs()
        + RegionLimit.MAPPINGS.derive(patient.root());
  }
}
