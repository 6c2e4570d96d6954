/**
 * bin/bench engine: what READs cost the transfer engine itself. {@link FakeAdapter} completes them
 * as fast as a link of some rate would, {@link EngineLoad} keeps an engine busy with them.
 */
package dev.sluice.benchmarks.engine;
