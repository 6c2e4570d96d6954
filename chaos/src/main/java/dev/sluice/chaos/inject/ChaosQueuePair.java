// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue pair whose READs fail when ordered. {@link ChaosDevice} creates it; threads and closing
 * are those of the wrapped queue pair, but any thread may {@link #fail} it. READs are in the audit
 * before they are posted, since a completion may come at once.
 */
final class ChaosQueuePair implements QueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(ChaosQueuePair.class);

  /** Distance that is outside any region, but within the addresses that verbs accept. */
  private static final long FAR = 1L << 46;

  private final QueuePair queuePair;
  private final ChaosDevice device;
  private final ChaosAgent agent;
  private final ReadAudit audit;
  private volatile boolean serving;

  ChaosQueuePair(QueuePair queuePair, ChaosDevice device, ChaosAgent agent, ReadAudit audit) {
    this.queuePair = queuePair;
    this.device = device;
    this.agent = agent;
    this.audit = audit;
  }

  /** Returns true if peers READ through it. */
  boolean isServing() {
    return serving;
  }

  void fail() {
    try {
      queuePair.toError();
    } catch (VerbsException | RuntimeException e) {
      LOG.info("Queue pair {} cannot be moved to ERROR: {}", qpNumber(), e.toString());
    }
  }

  @Override
  public void postSend(List<SendWorkRequest> chain) throws PostException {
    if (agent.strikes(Injection.SLOW_POST)) {
      ControlProxy.pause(20 + agent.choose(180));
    }
    List<SendWorkRequest> changed = chain.stream().map(this::change).toList();
    changed.forEach(request -> audit.posted(qpNumber(), request));
    try {
      queuePair.postSend(changed);
    } catch (PostException e) {
      changed
          .subList(e.badIndex(), changed.size())
          .reversed()
          .forEach(request -> audit.refused(qpNumber(), request));
      throw e;
    }
    if (agent.strikes(Injection.READER_ERROR)) {
      device.breaks(audit.underWay(qpNumber()));
      fail();
    }
    agent.stopAt(Injection.STOP_READING);
    if (!agent.isVictim() && agent.strikes(Injection.KILL_VICTIM)) {
      ProcessHandle.of(agent.victim()).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  private SendWorkRequest change(SendWorkRequest request) {
    int key = agent.strikes(Injection.BAD_KEY) ? ~request.rkey() : request.rkey();
    long address =
        agent.strikes(Injection.BAD_ADDRESS)
            ? request.remoteAddress() ^ FAR
            : request.remoteAddress();
    return new SendWorkRequest(request.wrId(), request.local(), address, key, request.signaled());
  }

  @Override
  public int qpNumber() {
    return queuePair.qpNumber();
  }

  @Override
  public QueuePairState state() {
    return queuePair.state();
  }

  @Override
  public boolean hasFailed() {
    return queuePair.hasFailed();
  }

  @Override
  public QueuePairAddress address() {
    return queuePair.address();
  }

  @Override
  public void toInit(Set<AccessFlag> access) throws VerbsException {
    serving = access.contains(AccessFlag.REMOTE_READ);
    queuePair.toInit(access);
  }

  @Override
  public CompletableFuture<QueuePairAddress> rendezvous(QueuePairAddress remote, long timeoutMs) {
    return queuePair.rendezvous(remote, timeoutMs);
  }

  @Override
  public void toRtr(QueuePairAddress remote, ConnectionAttributes attributes)
      throws VerbsException {
    queuePair.toRtr(remote, attributes);
  }

  @Override
  public void toRts() throws VerbsException {
    queuePair.toRts();
  }

  @Override
  public void toError() throws VerbsException {
    queuePair.toError();
  }

  @Override
  public void toReset() throws VerbsException {
    queuePair.toReset();
  }

  @Override
  public boolean isDestroyed() {
    return queuePair.isDestroyed();
  }

  @Override
  public void close() {
    queuePair.close();
    device.closed(this);
  }
}
