package dev.sluice.benchmarks.jmh;

import dev.sluice.blocks.ChecksumAlgorithm;
import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.blocks.message.ControlMessages;
import dev.sluice.blocks.message.ControlMessages.Resolved;
import dev.sluice.blocks.message.MessageCodec;
import dev.sluice.blocks.message.MessageException;
import dev.sluice.rdma.RemoteRegion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** A message of 100 locations to bytes and back, beside the same fields in a ByteBuffer. */
@State(Scope.Thread)
public class MessageCodecBenchmark {
  private static final int LOCATIONS = 100;
  private static final int LOCATION_BYTES = 1 + Long.BYTES + 2 * (2 * Long.BYTES + Integer.BYTES);

  private final MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
  private final List<MapOutputLocation> locations = new ArrayList<>();
  private byte[] encoded;
  private byte[] plain;

  @Setup
  public void makeMessage() throws MessageException {
    for (int i = 0; i < LOCATIONS; i++) {
      locations.add(
          new MapOutputLocation(
              i,
              new RemoteRegion(0x7F00_0000_0000L + i, 1000 + i, 2 * i),
              new RemoteRegion(0x7E00_0000_0000L + i, 160, 2 * i + 1),
              ChecksumAlgorithm.CRC32C));
    }
    encoded = encode();
    plain = encodeBaseline();
  }

  @Benchmark
  public byte[] encode() throws MessageException {
    return codec.encode(new Resolved(locations));
  }

  @Benchmark
  public byte[] encodeBaseline() {
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES + LOCATIONS * LOCATION_BYTES);
    bytes.putInt(locations.size());
    for (MapOutputLocation location : locations) {
      bytes.put((byte) location.checksumAlgorithm().ordinal()).putLong(location.mapId());
      put(bytes, location.data());
      put(bytes, location.table());
    }
    return bytes.array();
  }

  private static void put(ByteBuffer bytes, RemoteRegion region) {
    bytes.putLong(region.address()).putLong(region.length()).putInt(region.rkey());
  }

  @Benchmark
  public Object decode() throws MessageException {
    return codec.decode(encoded);
  }

  @Benchmark
  public Object decodeBaseline() {
    ByteBuffer bytes = ByteBuffer.wrap(plain);
    ChecksumAlgorithm[] algorithms = ChecksumAlgorithm.values();
    List<MapOutputLocation> decoded = new ArrayList<>();
    for (int left = bytes.getInt(); left > 0; left--) {
      ChecksumAlgorithm algorithm = algorithms[bytes.get()];
      long mapId = bytes.getLong();
      decoded.add(new MapOutputLocation(mapId, region(bytes), region(bytes), algorithm));
    }
    return decoded;
  }

  private static RemoteRegion region(ByteBuffer bytes) {
    return new RemoteRegion(bytes.getLong(), bytes.getLong(), bytes.getInt());
  }
}
