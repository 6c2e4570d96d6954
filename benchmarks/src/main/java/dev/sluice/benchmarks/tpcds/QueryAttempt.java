// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

/**
 * One repetition of a query, which {@link QueryJob} sends to the command as JSON.
 *
 * @param seconds time from the query's text to the answer's text
 * @param cpuSeconds CPU time of the executor processes meanwhile
 * @param rows number of rows of its answer
 * @param answer {@link Answer#digest} of its answer; null if it failed
 * @param problem failure, or difference from the right answer; null if there is none
 */
record QueryAttempt(double seconds, double cpuSeconds, int rows, String answer, String problem) {}
