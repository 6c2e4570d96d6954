package dev.sluice.spark.resolve;

import dev.sluice.blocks.RegisteredInputStream;
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
 * registered memory, where it costs neither an open file nor a system call for each of the pieces
 * of 4 KiB in which Kryo, for one, reads; Spark's transport sends it from its file, which costs no
 * copy. For the thread of a task, or of the transport.
 */
final class RegisteredManagedBuffer extends ManagedBuffer {
  private final FileSegmentManagedBuffer file;
  private final Supplier<RegisteredInputStream> registered;
  private final List<RegisteredInputStream> streams = new ArrayList<>();
  private int references;

  /**
   * @param file the block's bytes in its file
   * @param registered opens them in registered memory; null where they are not there any more
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
   * Streams are closed at the latest when the last reference is released. Never throws: Spark's
   * iterator expects that of files alone, and takes it for a bug of others.
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

  /** Spark's iterator has one reference, and releases it also where a task fails half-way. */
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
