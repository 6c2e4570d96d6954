// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;

/**
 * Answers Hadoop's fetcher as ShuffleHandler does: with status 500 and no map output if one of the
 * request is lost. Its own thread answers; the test closes it.
 */
final class MapOutputServer implements AutoCloseable {
  static final SecretKey SECRET = new SecretKeySpec(new byte[16], "HmacSHA1");

  private final Map<Long, byte[]> partitions;
  private final Map<Long, Long> rawBytes;
  private final Set<Long> lost = ConcurrentHashMap.newKeySet();
  private final HttpServer server;

  MapOutputServer(Map<Long, byte[]> partitions, Map<Long, Long> rawBytes) throws IOException {
    this.partitions = partitions;
    this.rawBytes = rawBytes;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/mapOutput", this::answer);
    server.start();
  }

  String host() {
    return "localhost:" + server.getAddress().getPort();
  }

  void lose(long mapId) {
    lost.add(mapId);
  }

  private void answer(HttpExchange request) throws IOException {
    try (HttpExchange exchange = request) {
      String maps = exchange.getRequestURI().getQuery().replaceFirst(".*map=", "");
      List<TaskAttemptID> wanted =
          Arrays.stream(maps.split(",")).map(TaskAttemptID::forName).collect(Collectors.toList());
      if (wanted.stream().map(MapIds::mapId).anyMatch(lost::contains)) {
        exchange.sendResponseHeaders(500, -1);
        return;
      }
      String hash = exchange.getRequestHeaders().getFirst(SecureShuffleUtils.HTTP_HEADER_URL_HASH);
      exchange
          .getResponseHeaders()
          .add(
              SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH,
              SecureShuffleUtils.generateHash(hash.getBytes("UTF-8"), SECRET));
      exchange
          .getResponseHeaders()
          .add(ShuffleHeader.HTTP_HEADER_NAME, ShuffleHeader.DEFAULT_HTTP_HEADER_NAME);
      exchange
          .getResponseHeaders()
          .add(ShuffleHeader.HTTP_HEADER_VERSION, ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION);
      exchange.sendResponseHeaders(200, 0);
      try (DataOutputStream body = new DataOutputStream(exchange.getResponseBody())) {
        for (TaskAttemptID each : wanted) {
          byte[] bytes = partitions.get(MapIds.mapId(each));
          long raw = rawBytes.get(MapIds.mapId(each));
          new ShuffleHeader(each.toString(), bytes.length, raw, 0).write(body);
          body.write(bytes);
        }
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
