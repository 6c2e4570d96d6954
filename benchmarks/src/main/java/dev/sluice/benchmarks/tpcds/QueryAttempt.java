package dev.sluice.benchmarks.tpcds;

/**
 * One repetition of a query.
 *
 * @param seconds from the text of the query to the text of the answer
 * @param cpuSeconds of the executors' processes meanwhile
 * @param rows of its answer
 * @param answer {@link Answer#digest} of its answer; null where it failed
 * @param problem why it failed, or how its answer is wrong, or null
 */
record QueryAttempt(double seconds, double cpuSeconds, int rows, String answer, String problem) {}
