/**
 * The command bin/chaos, the fault harness: runs workloads under faults and compares the answers
 * with the stock shuffle's.
 *
 * <p>{@link ChaosCommand} chooses faults and workloads and gives them to {@link ChaosRuns}. It
 * starts a {@link ChaosDriver} process for faults that can share a cluster, and sends it one run at
 * a time. In the driver, {@link ChaosDriver.ChaosJob} lets a {@link FaultedJob} run the workload
 * and the fault and answers with a {@link ChaosRun.RunResult}. {@link ChaosRun} compares this with
 * the stock shuffle; {@link ChaosReport} prints all.
 *
 * <p>The faults are in {@code fault}, their way into executors in {@code inject}, the jobs in
 * {@code workload}, and access to processes and stages in {@code cluster}.
 */
package dev.sluice.chaos;
