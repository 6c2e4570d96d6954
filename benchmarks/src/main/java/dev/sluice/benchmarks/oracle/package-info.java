/**
 * A shuffle that costs nothing on the wire, as the limit of those that fetch block by block. Begin
 * with {@link OracleShuffleManager}.
 */
package dev.sluice.benchmarks.oracle;
