package dev.sluice.spark.read;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** A block on its way into memory of its own, since no buffer of the pool is large enough. */
final class PartialMemory extends PartialBlock {
  private final LocatedBlock located;
  private final UnpooledBuffer memory;
  private boolean ended;

  PartialMemory(LocatedBlock located, boolean verifyChecksums) throws IOException {
    super(located, verifyChecksums);
    this.located = located;
    this.memory = UnpooledBuffer.allocate(located.length());
  }

  @Override
  void store(MemorySegment slice) {
    MemorySegment.copy(slice, 0, memory.segment(), position(), slice.byteSize());
  }

  @Override
  void finish(FetchCall call) {
    call.deliver(located.block(), new RdmaManagedBuffer(memory, 0, located.length()));
    abort();
  }

  /** Gives up its reference; the block may have one of its own. */
  @Override
  void abort() {
    if (!ended) {
      ended = true;
      memory.release();
    }
  }
}
