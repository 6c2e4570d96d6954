package dev.sluice.spark.read;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** A block on its way into memory of its own, since no buffer of the pool is large enough. */
final class PartialMemory extends PartialBlock {
  private final ParkedBytes parked;
  private final RequestedBlock block;
  private final long length;
  private final NettyBuffer memory;
  private boolean ended;

  PartialMemory(ParkedBytes parked, RequestedBlock block, long length) throws IOException {
    this.parked = parked;
    this.block = block;
    this.length = length;
    this.memory = NettyBuffer.allocate(length);
  }

  @Override
  void store(MemorySegment slice) {
    MemorySegment.copy(slice, 0, memory.segment(), position(), slice.byteSize());
  }

  @Override
  void finish(FetchCall call, boolean staged) {
    ended = true;
    SharedBytes bytes = new SharedBytes(parked, memory);
    call.deliver(block, bytes.block(0, length), staged);
    bytes.complete();
  }

  @Override
  void abort() {
    if (!ended) {
      ended = true;
      memory.release();
    }
  }
}
