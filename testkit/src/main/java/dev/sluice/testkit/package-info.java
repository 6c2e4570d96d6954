/**
 * Processes, clusters and commands that the fault harness and the benchmarks share. It uses Spark
 * and no module of Sluice: Sluice runs in processes that it starts from their jars.
 *
 * <p><b>Drivers.</b> A command finds the jars by {@link Installation}, makes a {@link RunDirectory}
 * and starts a {@link DriverProcess} for each {@link Shuffle}. The driver is a {@link SparkJvm}
 * that answers lines ({@link AnsweringProcess}); larger results are in a {@link JsonFile}, {@link
 * Stages} watches its jobs, and {@link Sums} tells whether two shuffles gave the same records.
 *
 * <p><b>Processes.</b> {@link Executors} finds and measures the executors of a driver, and {@link
 * ExecutorProcess} is the kernel's view of one of them. {@link NodeProcess} is a node daemon, and
 * {@link NodeCluster} a Master with a Worker. {@link Commands} runs programs of the operating
 * system, {@link OtherUser} starts some as another user in {@link ContainerDirectories}, {@link
 * VerbsTool} bin/verbs, {@link ReadLimit} slows a process's disk, and {@link Poll} waits.
 *
 * <p><b>Commands.</b> The main classes run a command by {@link Usage}, which checks its options.
 * {@link Resource} reads its lists, {@link Columns} and {@link Spread} format its output, and
 * {@link Progress} tells how far it is. Tests compare the options with the documents' command lines
 * ({@link DocumentBlock}).
 */
package dev.sluice.testkit;
