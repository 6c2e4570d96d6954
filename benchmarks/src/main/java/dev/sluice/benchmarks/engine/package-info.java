/**
 * The command {@code bin/bench engine}: the cost of READs in the transfer engine. {@link
 * EngineCommand} measures; {@link FakeAdapter} completes READs as fast as a link of a given rate,
 * and {@link EngineLoad} keeps an engine busy with them.
 */
package dev.sluice.benchmarks.engine;
