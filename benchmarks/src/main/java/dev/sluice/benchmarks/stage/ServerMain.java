package dev.sluice.benchmarks.stage;

import dev.sluice.benchmarks.CpuTime;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The process that stages: an executor for each argument, the directory of its map outputs. Says
 * where they are, and then to each line how many nanoseconds a task of its own has taken, and how
 * many of CPU time everything else in the process meanwhile. Ends when its standard input does.
 */
final class ServerMain {
  private static final long POOL_BYTES = 4 << 20;

  /** About a second of a core's time. */
  private static final int STEPS = 500_000_000;

  /** So that it has to be computed. */
  private static volatile long result;

  private ServerMain() {}

  public static void main(String[] directories) throws IOException {
    List<NetworkParts> servers = new ArrayList<>();
    for (String name : directories) {
      Path directory = Path.of(name);
      String id = ProcessHandle.current().pid() + "-" + servers.size();
      SampleOutputs outputs = new SampleOutputs(directory, 0, 0, 0);
      servers.add(new NetworkParts(id, POOL_BYTES, outputs, List.of(directory)));
      PeerAddress address = servers.getLast().address();
      System.out.printf("%s %s %d%n", address.id(), address.host(), address.port());
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    while (in.readLine() != null) {
      long cpu = CpuTime.ofProcess();
      long start = System.nanoTime();
      long own = CpuTime.ofThread(ServerMain::ownTask);
      System.out.printf("%d %d%n", System.nanoTime() - start, CpuTime.ofProcess() - cpu - own);
    }
    servers.forEach(NetworkParts::close);
  }

  private static void ownTask() {
    long state = System.nanoTime();
    for (int i = 0; i < STEPS; i++) {
      state ^= state << 13;
      state ^= state >>> 7;
      state ^= state << 17;
    }
    result = state;
  }
}
