package dev.sluice.benchmarks;

import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.wire.MapOutputLocation;

/** For a registry of whose map outputs nobody is told. */
public final class Unpublished implements MapOutputListener {
  @Override
  public void registered(int shuffleId, MapOutputLocation location) {}

  @Override
  public void withdrawn(int shuffleId) {}
}
