/**
 * bin/terasort and bin/bench terasort. {@link TeraSortCommand} starts {@link SortJob} in driver
 * processes, and {@link TeraSortReport} says whether results are valid.
 */
package dev.sluice.benchmarks.terasort;
