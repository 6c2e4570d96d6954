// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Limited;
import dev.sluice.doctor.Platform;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * READs from all other nodes while they READ, too. Each node serves until all are done. The others
 * wait for each node. A node therefore takes part even without a device, and ends even if a call
 * hangs. {@link Mesh} makes it; it runs on each host's task thread, in one barrier stage. Every way
 * through {@link #apply} must reach both barriers, or all nodes wait for the time limit.
 */
final class MeshTask extends AbstractFunction1<Iterator<Integer>, Iterator<MeshReport>>
    implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String NODE = "dev.sluice.spark.doctor.executor.ExecutorMeshNode";

  /** These limits together stay below the limit of {@link Doctor} for the mesh. */
  private static final Duration OPEN_LIMIT = Duration.ofMinutes(1);

  private static final Duration READ_LIMIT = Duration.ofMinutes(20);
  private static final Duration CLOSE_LIMIT = Duration.ofMinutes(1);

  @Override
  public Iterator<MeshReport> apply(Iterator<Integer> nothing) {
    BarrierTaskContext context = BarrierTaskContext.get();
    String host = SparkEnv.get().blockManager().blockManagerId().host();
    MeshNode node = open();
    List<Member> others = others(context, new Member(host, node.port()));
    List<MeshRead> reads = node.readFrom(others, READ_LIMIT);
    context.barrier();
    close(node);
    int untried = node.failure().isEmpty() ? others.size() - reads.size() : 0;
    MeshReport report = new MeshReport(host, node.failure(), node.mtu(), reads, untried);
    return CollectionConverters.asScala(List.of(report).iterator());
  }

  /** Returns the nodes that serve. Each task begins with another node, to spread READs. */
  private static List<Member> others(BarrierTaskContext context, Member self) {
    List<Member> all =
        Arrays.stream(context.allGather(self.encoded()))
            .map(Member::decoded)
            .collect(Collectors.toCollection(ArrayList::new));
    Collections.rotate(all, -context.partitionId());
    return all.subList(1, all.size()).stream().filter(Member::serves).collect(Collectors.toList());
  }

  private static MeshNode open() {
    String lack = Platform.lack(Runtime.version().feature());
    if (!lack.isEmpty()) {
      return new Absent(lack);
    }
    try {
      return Limited.call(
          "mesh",
          OPEN_LIMIT,
          () -> Class.forName(NODE).asSubclass(MeshNode.class).getConstructor().newInstance());
    } catch (ExecutionException | TimeoutException e) {
      return new Absent(Finding.reason(e));
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static void close(MeshNode node) {
    try {
      Limited.call(
          "mesh",
          CLOSE_LIMIT,
          () -> {
            node.close();
            return true;
          });
    } catch (ExecutionException | TimeoutException e) {
      // Its resources go with the executor.
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** A node that can neither serve nor READ. */
  private record Absent(String failure) implements MeshNode {
    @Override
    public int port() {
      return 0;
    }

    @Override
    public int mtu() {
      return 0;
    }

    @Override
    public List<MeshRead> readFrom(List<Member> others, Duration limit) {
      return List.of();
    }

    @Override
    public void close() {}
  }
}
