// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.testkit.Stages.Losses;
import dev.sluice.testkit.Sums;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Result of one run. {@link FaultedJob} creates it in the driver, which sends it to the command as
 * JSON; for a driver that fails, {@link ChaosRuns} creates it.
 *
 * @param cause name of the fault that struck: the run's own, or the one chosen for it
 * @param answer answer of the workload; null if there is none
 * @param problem reason why there is no answer; null if there is one
 * @param struck true if the fault is known to have happened while the job ran
 * @param readBlocks blocks that were READ by executors that did not end
 * @param seconds time from the beginning of the job to its end
 * @param recoverySeconds time from the fault to the end of the job
 * @param leaks resources that executors still held at the end
 * @param held levels at the end, of the driver and of the executor with the highest: numbers of
 *     descriptors, threads and mapped files; bytes of resident memory and of live heap; outstanding
 *     READs of one queue pair when the fault broke it
 * @param endMs end of the run, on this machine's clock
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RunResult(
    Run run,
    String cause,
    Outcome outcome,
    @Nullable Sums answer,
    @Nullable String problem,
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
    /** The job returned an answer. */
    ANSWERED,
    /** The job or the driver's process failed. */
    FAILED,
    /** The job did not end in time. */
    HANG,
    /** The fault could not be caused or removed, which says nothing about the job. */
    HARNESS
  }

  /** Key of a run: parameters that stay the same when it is repeated. */
  public record Run(String provider, String fault, String workload, long seed) {}

  /** Returns the result of a run whose process ended. */
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
