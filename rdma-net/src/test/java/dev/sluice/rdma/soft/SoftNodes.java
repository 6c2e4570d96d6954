// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes on the software provider, closed after each test. Objects that are still open then fail it.
 */
abstract class SoftNodes {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  @TempDir Path directory;

  private final List<TestNode> nodes = new ArrayList<>();
  TestNode left;

  @BeforeEach
  void openLeft() throws IOException {
    left = open(SoftOptions.DEFAULT);
  }

  @AfterEach
  void closeNodes() {
    nodes.forEach(TestNode::close);
  }

  TestNode open(SoftOptions options) throws IOException {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    TestNode node =
        new TestNode(new SoftProvider(options.with(o -> o.leaks = leaks.tracker())).open(loopback));
    nodes.add(node);
    return node;
  }

  TestNode faulty(String plan) throws IOException {
    return open(SoftOptions.DEFAULT.with(o -> o.faults = FaultPlan.parse(plan)));
  }

  QueuePair connect(TestNode right, ConnectionAttributes attributes) throws VerbsException {
    QueuePair queuePair = left.createQueuePair();
    TestNode.connect(queuePair, right.createQueuePair(), attributes);
    return queuePair;
  }

  static SendWorkRequest read(long wrId, MemoryRegion target, MemoryRegion source, int bytes) {
    return new SendWorkRequest(
        wrId,
        new ScatterGatherEntry(target.address(), bytes, target.lkey()),
        source.address(),
        source.rkey(),
        true);
  }

  List<WorkCompletionStatus> await(int count) throws VerbsException {
    return left.await(count).stream().map(Completed::status).toList();
  }

  FileChannel newFile(String name) throws IOException {
    return FileChannel.open(
        directory.resolve(name),
        StandardOpenOption.CREATE_NEW,
        StandardOpenOption.READ,
        StandardOpenOption.WRITE);
  }
}
