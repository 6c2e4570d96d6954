package dev.sluice.rdma.soft;

import java.nio.ByteBuffer;

/** Takes pieces of registered memory that a socket is to read from or write to. */
interface BufferSink {
  void add(ByteBuffer buffer, SoftMemoryRegion region);
}
