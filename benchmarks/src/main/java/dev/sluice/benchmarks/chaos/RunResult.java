package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.benchmarks.chaos.cluster.Losses;
import dev.sluice.benchmarks.storm.Sums;
import java.util.List;
import java.util.Map;

/**
 * What came of one run.
 *
 * @param cause name of the fault that struck: the run's own, unless that stands for several
 * @param answer of the workload; null where there is none
 * @param problem why there is none; null where there is one
 * @param struck whether the fault is known to have happened while the job ran
 * @param readBlocks blocks that were READ by executors that did not end
 * @param seconds from the beginning of the job to its end
 * @param recoverySeconds from the fault to the end of the job
 * @param leaks what executors still held when all was over
 * @param held what the driver had then, and the executor that had most of each: numbers of
 *     descriptors, threads and mappings of files; bytes of resident memory and of live heap; READs
 *     that one queue pair had under way when the fault broke it
 * @param endMs when the run was over, on this machine's clock
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RunResult(
    Run run,
    String cause,
    Outcome outcome,
    Sums answer,
    String problem,
    Losses losses,
    boolean struck,
    long readBlocks,
    double seconds,
    double recoverySeconds,
    List<String> leaks,
    Map<String, Long> held,
    long endMs) {

  /** How a run ended. */
  public enum Outcome {
    /** With an answer. */
    ANSWERED,
    /** The job or the driver's process failed. */
    FAILED,
    /** The job did not end in time. */
    HANG,
    /** The fault could not be brought about or taken back, which says nothing of the job. */
    HARNESS
  }

  /** What is the same when it is run again. */
  public record Run(String provider, String fault, String workload, long seed) {}

  /** Of a process that ended. */
  static RunResult failed(Run run, String problem) {
    return new RunResult(
        run,
        run.fault(),
        Outcome.FAILED,
        null,
        problem,
        Losses.NONE,
        true,
        0,
        0,
        0,
        List.of(),
        Map.of(),
        System.currentTimeMillis());
  }
}
