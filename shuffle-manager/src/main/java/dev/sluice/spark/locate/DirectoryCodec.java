package dev.sluice.spark.locate;

import dev.sluice.blocks.ChecksumAlgorithm;
import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Event;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages as bytes. Spark's RPC carries nothing but the bytes: its serializer has captured the
 * class loader before the jars of {@code --jars} were added, so a class of ours in a message ends
 * in ClassNotFoundException.
 */
public final class DirectoryCodec {
  private static final ChecksumAlgorithm[] ALGORITHMS = ChecksumAlgorithm.values();

  private DirectoryCodec() {}

  public static byte[] encode(DirectoryMessage message) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      write(message, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(DirectoryMessage message, DataOutputStream out) throws IOException {
    switch (message) {
      case Ack() -> out.writeByte(0);
      case Publish(ExecutorEndpoint endpoint, List<Published> outputs) -> {
        out.writeByte(1);
        writeEndpoint(endpoint, out);
        writeAll(outputs, DirectoryCodec::writePublished, out);
      }
      case Locate(int shuffleId, long generation, int count, int events) -> {
        out.writeByte(2);
        out.writeInt(shuffleId);
        out.writeLong(generation);
        out.writeInt(count);
        out.writeInt(events);
      }
      case Table(long generation, byte[] broadcast, byte[] records, List<Event> events) -> {
        out.writeByte(3);
        out.writeLong(generation);
        writeBytes(broadcast, out);
        writeBytes(records, out);
        writeAll(events, DirectoryCodec::writeEvent, out);
      }
      case Report report -> {
        out.writeByte(4);
        writeReport(report, out);
      }
      case Failure(String executorId, String reason) -> {
        out.writeByte(5);
        out.writeUTF(executorId);
        out.writeUTF(reason);
      }
    }
  }

  /**
   * @throws UncheckedIOException for bytes that are not a message
   */
  public static DirectoryMessage decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      return read(in);
    } catch (IOException e) {
      throw new UncheckedIOException("not a message of the location directory", e);
    }
  }

  private static DirectoryMessage read(DataInputStream in) throws IOException {
    int type = in.readByte();
    return switch (type) {
      case 0 -> new Ack();
      case 1 -> new Publish(readEndpoint(in), readAll(in, DirectoryCodec::readPublished));
      case 2 -> new Locate(in.readInt(), in.readLong(), in.readInt(), in.readInt());
      case 3 ->
          new Table(
              in.readLong(), readBytes(in), readBytes(in), readAll(in, DirectoryCodec::readEvent));
      case 4 -> readReport(in);
      case 5 -> new Failure(in.readUTF(), in.readUTF());
      default -> throw new IOException("unknown type " + type);
    };
  }

  private static void writeEndpoint(ExecutorEndpoint endpoint, DataOutputStream out)
      throws IOException {
    out.writeUTF(endpoint.executorId());
    out.writeUTF(endpoint.host());
    out.writeInt(endpoint.port());
    out.writeUTF(endpoint.provider());
  }

  private static ExecutorEndpoint readEndpoint(DataInputStream in) throws IOException {
    return new ExecutorEndpoint(in.readUTF(), in.readUTF(), in.readInt(), in.readUTF());
  }

  private static void writePublished(Published published, DataOutputStream out) throws IOException {
    MapOutputLocation location = published.location();
    out.writeInt(published.shuffleId());
    out.writeBoolean(location != null);
    if (location == null) {
      return;
    }
    out.writeLong(location.mapId());
    writeRegion(location.data(), out);
    writeRegion(location.table(), out);
    out.writeByte(location.checksumAlgorithm().ordinal());
  }

  private static Published readPublished(DataInputStream in) throws IOException {
    int shuffleId = in.readInt();
    return new Published(shuffleId, in.readBoolean() ? readLocation(in) : null);
  }

  private static MapOutputLocation readLocation(DataInputStream in) throws IOException {
    return new MapOutputLocation(
        in.readLong(), readRegion(in), readRegion(in), ALGORITHMS[in.readByte()]);
  }

  private static void writeRegion(RemoteRegion region, DataOutputStream out) throws IOException {
    out.writeLong(region.address());
    out.writeLong(region.length());
    out.writeInt(region.rkey());
  }

  private static RemoteRegion readRegion(DataInputStream in) throws IOException {
    return new RemoteRegion(in.readLong(), in.readLong(), in.readInt());
  }

  private static void writeEvent(Event event, DataOutputStream out) throws IOException {
    writeEndpoint(event.endpoint(), out);
    out.writeBoolean(event.lost());
  }

  private static Event readEvent(DataInputStream in) throws IOException {
    return new Event(readEndpoint(in), in.readBoolean());
  }

  private static void writeReport(Report report, DataOutputStream out) throws IOException {
    out.writeUTF(report.executorId());
    out.writeLong(report.sequence());
    out.writeUTF(report.device());
    out.writeInt(report.counters().size());
    for (Map.Entry<String, Long> entry : report.counters().entrySet()) {
      out.writeUTF(entry.getKey());
      out.writeLong(entry.getValue());
    }
  }

  private static Report readReport(DataInputStream in) throws IOException {
    String executorId = in.readUTF();
    long sequence = in.readLong();
    String device = in.readUTF();
    Map<String, Long> counters = new HashMap<>();
    for (int left = in.readInt(); left > 0; left--) {
      counters.put(in.readUTF(), in.readLong());
    }
    return new Report(executorId, sequence, device, counters);
  }

  private static void writeBytes(byte[] bytes, DataOutputStream out) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static byte[] readBytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new IOException("ends after " + bytes.length + " of " + length + " bytes");
    }
    return bytes;
  }

  @FunctionalInterface
  private interface Writer<T> {
    void write(T element, DataOutputStream out) throws IOException;
  }

  @FunctionalInterface
  private interface Reader<T> {
    T read(DataInputStream in) throws IOException;
  }

  private static <T> void writeAll(Collection<T> elements, Writer<T> writer, DataOutputStream out)
      throws IOException {
    out.writeInt(elements.size());
    for (T element : elements) {
      writer.write(element, out);
    }
  }

  private static <T> List<T> readAll(DataInputStream in, Reader<T> reader) throws IOException {
    List<T> elements = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      elements.add(reader.read(in));
    }
    return elements;
  }
}
