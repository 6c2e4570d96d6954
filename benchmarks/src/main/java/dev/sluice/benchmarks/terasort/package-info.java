/**
 * The commands bin/terasort and bin/bench terasort. {@link TeraSortCommand} gets an input from
 * {@link TeraData} and starts {@link SortJob} in driver processes, which partitions by {@link
 * SortJob.KeyRanges}, or a sort of {@code dev.sluice.benchmarks.mapreduce}. {@link TeraSortReport}
 * decides whether the {@link SortJob.SortResult}s are valid.
 */
package dev.sluice.benchmarks.terasort;
