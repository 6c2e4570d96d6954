// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.resolve;

import dev.sluice.blocks.registry.RegisteredInputStream;
import dev.sluice.spark.resolve.SluiceBlockResolver.FileSegments;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A block of this executor's own map outputs, while they are registered. A task reads it from
 * registered memory, without an open file and without a system call for each piece of, for example,
 * Kryo's 4 KiB. Spark's transport sends it from its file, without a copy. {@link
 * SluiceBlockResolver} makes it for one request, so one thread at a time uses it: a task's, or one
 * of the transport. A stream keeps the memory mapped until it is closed.
 */
final class RegisteredManagedBuffer extends ManagedBuffer {
  private final FileSegmentManagedBuffer file;
  private final Supplier<RegisteredInputStream> registered;
  private final List<RegisteredInputStream> streams = new ArrayList<>();
  private int references;

  /**
   * @param file the block in its file
   * @param registered opens the block in registered memory; returns null if it is no longer there
   */
  RegisteredManagedBuffer(
      FileSegmentManagedBuffer file, Supplier<RegisteredInputStream> registered) {
    this.file = file;
    this.registered = registered;
  }

  @Override
  public long size() {
    return file.size();
  }

  @Override
  public ByteBuffer nioByteBuffer() throws IOException {
    return file.nioByteBuffer();
  }

  /**
   * Opens a stream, which is closed at the latest when the last reference is released. Never
   * throws: Spark's iterator expects exceptions of file buffers only, and reports those of others
   * as a bug.
   */
  @Override
  public InputStream createInputStream() {
    RegisteredInputStream stream = registered.get();
    if (stream == null) {
      return fileStream();
    }
    streams.add(stream);
    return stream;
  }

  @SuppressWarnings("InputStreamSlowMultibyteRead") // the stream of a lost file has no bytes
  private InputStream fileStream() {
    try {
      FileSegments.requireWhole(file);
      return file.createInputStream();
    } catch (IOException e) {
      return new InputStream() {
        @Override
        public int read() throws IOException {
          throw e;
        }
      };
    }
  }

  @Override
  public ManagedBuffer retain() {
    references++;
    return this;
  }

  /** Releases a reference. Spark's iterator does so for its own even if a task fails half-way. */
  @Override
  public ManagedBuffer release() {
    references--;
    if (references == 0) {
      streams.forEach(RegisteredInputStream::close);
    }
    return this;
  }

  @Override
  public Object convertToNetty() throws IOException {
    return file.convertToNetty();
  }

  @Override
  public Object convertToNettyForSsl() throws IOException {
    return file.convertToNettyForSsl();
  }

  @Override
  public String toString() {
    return "RegisteredManagedBuffer[" + file + "]";
  }
}
