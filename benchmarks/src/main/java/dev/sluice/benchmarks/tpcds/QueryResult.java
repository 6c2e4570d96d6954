package dev.sluice.benchmarks.tpcds;

/**
 * What came of one query in one driver process.
 *
 * @param query its name
 * @param seconds of its repetitions, from the text of the query to the text of the answer
 * @param rows of its answer
 * @param answer {@link Answer#digest} of its answer, the same in all repetitions
 * @param problem why it failed, or how its answer is wrong, or null
 */
record QueryResult(String query, double[] seconds, int rows, String answer, String problem) {}
