/**
 * bin/bench tpcds. {@link TpcdsCommand} has {@link QueryProcesses} run the queries in turns, and
 * {@link TpcdsReport} says whether answers are right. The data is made by {@link DataJob}.
 */
package dev.sluice.benchmarks.tpcds;
