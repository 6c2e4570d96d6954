package dev.sluice.spark.doctor.executor;

import dev.sluice.doctor.check.Patient;
import dev.sluice.doctor.peer.PeerReader;
import dev.sluice.doctor.peer.PeerServer;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.doctor.Member;
import dev.sluice.spark.doctor.MeshNode;
import dev.sluice.spark.doctor.MeshRead;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkEnv;

/** Serves the other executors' doctors, and READs from them. Made by a task, by its name. */
public final class ExecutorMeshNode implements MeshNode {
  private final PeerServer server;
  private final PeerReader reader;
  private final Member self;

  /**
   * @throws IOException where this executor has no device, with the reason
   */
  public ExecutorMeshNode() throws IOException {
    SparkEnv env = SparkEnv.get();
    Patient patient = ExecutorPatient.of(env, new SluiceConf(env.conf()));
    server = PeerServer.open(patient, 0);
    reader = new PeerReader(patient);
    self = new Member(env.executorId(), ExecutorPatient.host(env), server.port(), "");
  }

  @Override
  public Member self() {
    return self;
  }

  /** Begins behind itself, so that not all READ from the same one. */
  @Override
  public List<MeshRead> readFrom(List<Member> members) {
    int own = members.indexOf(self);
    List<MeshRead> reads = new ArrayList<>();
    for (int i = 1; i < members.size(); i++) {
      reads.add(read(members.get((own + i) % members.size())));
    }
    return reads;
  }

  private MeshRead read(Member from) {
    if (!from.failure().isEmpty()) {
      return MeshRead.failed(self.id(), from.id(), from.failure());
    }
    try {
      PeerReader.Measured measured =
          reader.read(new PeerAddress(from.id() + ":" + from.port(), from.host(), from.port()));
      return new MeshRead(self.id(), from.id(), measured.bytesPerSecond(), measured.micros(), "");
    } catch (IOException e) {
      return MeshRead.failed(self.id(), from.id(), e.getMessage());
    }
  }

  @Override
  public void close() {
    reader.close();
    try {
      server.close();
    } catch (IOException e) {
      // The port is given back with the process.
    }
  }
}
