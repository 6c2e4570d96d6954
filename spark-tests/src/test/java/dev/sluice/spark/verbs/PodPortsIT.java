// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.deployment.DoctorProcess.Result;
import dev.sluice.spark.verbs.Pods.Mode;
import dev.sluice.verbs.Cable;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The port and the GID that processes of pods choose, on a node whose own RDMA devices they see.
 * The doctor reports them, since it chooses as an executor does, and READs from pod to pod.
 */
@NeedsRdmaDevice
@Cable.Needed
final class PodPortsIT {
  private static final String FIRST = "198.18.0.1";
  private static final String SECOND = "198.18.0.2";

  @TempDir private Path directory;
  private PodDoctor doctor;
  private RdmaResources before;

  @BeforeEach
  void lookAtTheKernel() throws Exception {
    doctor = new PodDoctor(Path.of(System.getProperty("sluice.jar")), directory, Pods::in);
    before = RdmaResources.now();
  }

  @AfterEach
  void nothingIsLeftInTheKernel() throws Exception {
    RdmaResources.awaitNothingButWhatWas(before);
  }

  /** Otherwise two pods of a node choose adapters by the index numbers of their network devices. */
  @ParameterizedTest
  @ValueSource(strings = {"veth0", "veth1"})
  void aPodWithoutAnAddressAtAnAdapterTakesNone(String numberedLike) throws Exception {
    try (Pods pods = new Pods(Mode.SHARED)) {
      pods.add("pod");
      pods.connect("pod", Pods.index(numberedLike), FIRST);
      Result result = doctor.examine("pod", FIRST, Map.of());
      assertThat(result.findings("fail", "port"))
          .as(result.output())
          .anySatisfy(port -> assertThat(port).contains("rxe0:1", "another network namespace"))
          .anySatisfy(port -> assertThat(port).contains("rxe1:1", "another network namespace"));
      assertThat(result.findings("ok", "port")).isEmpty();
    }
  }

  @Test
  void aGidOfTheNodeIsTakenOnRequestAndReported() throws Exception {
    Map<String, String> asked = Map.of("NCCL_IB_HCA", "=rxe0", "NCCL_IB_GID_INDEX", "1");
    try (Pods pods = new Pods(Mode.SHARED)) {
      pods.add("pod");
      pods.add("other");
      pods.join("eth0", "pod", FIRST, "other", SECOND);
      Result result = doctor.read("pod", FIRST, "other", SECOND, asked);
      assertThat(result.findings("ok", "port"))
          .anySatisfy(port -> assertThat(port).contains("rxe0:1", "10.77.0.1"));
      assertThat(result.findings("warn", "gid"))
          .as(result.output())
          .anySatisfy(gid -> assertThat(gid).contains("another network namespace"));
      assertThat(result.findings("fail", ".*")).as(result.output()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(Mode.class)
  void podsReadFromEachOtherByTheirOwnAdapters(Mode mode) throws Exception {
    try (Pods pods = new Pods(mode)) {
      pods.add("pod");
      pods.add("other");
      pods.join("eth0", "pod", FIRST, "other", SECOND);
      pods.addRdma("pod", "rxe7", "eth0");
      pods.addRdma("other", "rxe8", "eth0");
      Result result = doctor.read("pod", FIRST, "other", SECOND, Map.of());
      assertThatTheOtherPodHasItsOwnPort(result);
      assertThat(result.findings("fail", ".*")).as(result.output()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(Mode.class)
  void podsReadFromEachOtherByAdaptersOfTheirMacvlanInterfaces(Mode mode) throws Exception {
    try (Pods pods = new Pods(mode)) {
      addPodsOfTwoNodes(pods);
      pods.addRdma("pod", "rxe7", "net1");
      pods.addRdma("other", "rxe8", "net1");
      Result result = doctor.read("pod", FIRST, "other", SECOND, Map.of());
      assertThatTheOtherPodHasItsOwnPort(result);
      assertThat(result.findings("fail", ".*")).as(result.output()).isEmpty();
    }
  }

  /** Adapters of the nodes have GIDs for the pods' addresses, but soft-RoCE READs fail. */
  @Test
  void macvlanInterfacesOfTheNodesAdaptersHaveGids() throws Exception {
    try (Pods pods = new Pods(Mode.SHARED)) {
      addPodsOfTwoNodes(pods);
      pods.addRdma("node", "rxe7", "eth0");
      pods.addRdma("other-node", "rxe8", "eth0");
      Result result = doctor.read("pod", FIRST, "other", SECOND, Map.of());
      assertThatTheOtherPodHasItsOwnPort(result);
      assertThat(result.findings("fail", "peer")).as(result.output()).hasSize(1);
    }
  }

  private static void assertThatTheOtherPodHasItsOwnPort(Result result) {
    assertThat(result.findings("ok", "port"))
        .as(result.output())
        .anySatisfy(port -> assertThat(port).contains("rxe8:1", SECOND, "own address"));
  }

  /** Two nodes at a cable, each with a pod that has a macvlan interface of the node's end. */
  private static void addPodsOfTwoNodes(Pods pods) throws Exception {
    for (String namespace : List.of("node", "pod", "other-node", "other")) {
      pods.add(namespace);
    }
    pods.join("eth0", "node", "198.19.0.1", "other-node", "198.19.0.2");
    pods.addMacvlan("node", "eth0", "pod", "net1", FIRST);
    pods.addMacvlan("other-node", "eth0", "other", "net1", SECOND);
  }

  /** The executors' addresses are in a network that both pods have and that has no RDMA. */
  @Test
  void eachPodTakesItsOwnAdapterEvenWhereThereIsNoRouteBetweenThem() throws Exception {
    try (Pods pods = new Pods(Mode.SHARED)) {
      pods.add("pod");
      pods.add("other");
      pods.add("switch");
      pods.join("eth0", "pod", FIRST, "other", SECOND);
      pods.join("net1", "pod", "198.19.1.1", "switch", "198.19.1.2");
      pods.join("net2", "other", "198.19.2.1", "switch", "198.19.2.2");
      pods.addRdma("pod", "rxe7", "net1");
      pods.addRdma("other", "rxe8", "net2");
      Result result = doctor.read("pod", FIRST, "other", SECOND, Map.of());
      assertThat(result.findings("ok", "port"))
          .as(result.output())
          .anySatisfy(port -> assertThat(port).contains("rxe8:1", "198.19.2.1"));
      assertThat(result.findings("fail", ".*"))
          .as(result.output())
          .anySatisfy(failure -> assertThat(failure).contains("198.19.1.1"));
    }
  }
}
