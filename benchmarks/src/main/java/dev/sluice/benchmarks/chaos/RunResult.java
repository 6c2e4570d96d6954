package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.benchmarks.chaos.fault.Fault;
import dev.sluice.benchmarks.chaos.workload.Answer;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.util.List;
import java.util.Map;

/**
 * What came of one run.
 *
 * @param answer of the workload; null where there is none
 * @param problem why there is none
 * @param hang whether that is that it did not end in time
 * @param stageRetries stages that were run again
 * @param fetchFailures tasks that ended with a FetchFailedException
 * @param failedTasks tasks that ended with another exception
 * @param lostExecutors executors that ended meanwhile
 * @param struck whether the fault is known to have happened while the job ran
 * @param seconds from the beginning of the job to its end
 * @param recoverySeconds from the fault to the end of the job
 * @param leaks what executors still held when all was over
 * @param held what the driver had then, and the executor that had most of each: numbers of
 *     descriptors, threads and mappings of files; bytes of resident memory and of live heap
 * @param endMs when the run was over, on this machine's clock
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RunResult(
    String fault,
    String workload,
    long seed,
    Answer answer,
    String problem,
    boolean hang,
    int stageRetries,
    int fetchFailures,
    int failedTasks,
    int lostExecutors,
    boolean struck,
    double seconds,
    double recoverySeconds,
    List<String> leaks,
    Map<String, Long> held,
    long endMs) {

  /** Of a process that ended. */
  static RunResult failed(Fault fault, Workload workload, long seed, String problem) {
    return new RunResult(
        fault.name(),
        workload.name(),
        seed,
        null,
        problem,
        false,
        0,
        0,
        0,
        0,
        true,
        0,
        0,
        List.of(),
        Map.of(),
        System.currentTimeMillis());
  }
}
