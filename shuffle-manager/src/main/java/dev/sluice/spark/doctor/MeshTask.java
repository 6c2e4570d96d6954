package dev.sluice.spark.doctor;

import dev.sluice.spark.version.Platform;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * READs from all other executors while they READ: each serves until all are done. Whatever an
 * executor lacks, it takes part, as the others wait for it.
 */
final class MeshTask extends AbstractFunction1<Iterator<Integer>, Iterator<MeshRead>>
    implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String NODE = "dev.sluice.spark.doctor.executor.ExecutorMeshNode";

  @Override
  public Iterator<MeshRead> apply(Iterator<Integer> nothing) {
    BarrierTaskContext context = BarrierTaskContext.get();
    try (MeshNode node = open()) {
      List<Member> members =
          Arrays.stream(context.allGather(node.self().encoded()))
              .map(Member::decoded)
              .collect(Collectors.toList());
      List<MeshRead> reads = node.readFrom(members);
      context.barrier();
      return CollectionConverters.asScala(reads.iterator());
    }
  }

  private static MeshNode open() {
    String lack = Platform.lack(Runtime.version().feature());
    if (!lack.isEmpty()) {
      return new Absent(lack);
    }
    try {
      return (MeshNode) Class.forName(NODE).getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      return new Absent(String.valueOf(cause.getMessage()));
    }
  }

  /** An executor that can neither serve nor READ, which the others report. */
  private static final class Absent implements MeshNode {
    private final String reason;

    Absent(String reason) {
      this.reason = reason;
    }

    @Override
    public Member self() {
      SparkEnv env = SparkEnv.get();
      return new Member(env.executorId(), env.blockManager().blockManagerId().host(), 0, reason);
    }

    @Override
    public List<MeshRead> readFrom(List<Member> members) {
      return List.of();
    }

    @Override
    public void close() {}
  }
}
