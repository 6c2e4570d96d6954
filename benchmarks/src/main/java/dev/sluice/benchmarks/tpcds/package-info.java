/**
 * The command {@code bin/bench tpcds}. {@link TpcdsCommand} gets tables from {@link TpcdsData},
 * which {@link DataJob} generates, and runs the queries in turns in driver processes ({@link
 * QueryJob}). An {@link Answer} is compared with Spark's {@link Answer.GoldenAnswer}; {@link
 * TpcdsReport} combines the results.
 */
package dev.sluice.benchmarks.tpcds;
