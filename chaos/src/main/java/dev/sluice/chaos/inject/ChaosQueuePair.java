// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.chaos.inject.Wrapper.Replaces;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes of a queue pair ({@link Wrapper}), whose READs fail when ordered. {@link ChaosDevice}
 * creates it; threads are those of the wrapped queue pair, but any thread may {@link #fail} it.
 * READs are in the audit before they are posted, since a completion may come at once.
 */
final class ChaosQueuePair {
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
      LOG.info("Queue pair {} cannot be moved to ERROR: {}", number(), e.toString());
    }
  }

  @Replaces
  void postSend(List<SendWorkRequest> chain) throws PostException {
    if (agent.strikes(Injection.SLOW_POST)) {
      ControlProxy.pause(20 + agent.choose(180));
    }
    List<SendWorkRequest> changed = chain.stream().map(this::change).toList();
    changed.forEach(request -> audit.posted(number(), request));
    try {
      queuePair.postSend(changed);
    } catch (PostException e) {
      changed
          .subList(e.badIndex(), changed.size())
          .reversed()
          .forEach(request -> audit.refused(number(), request));
      throw e;
    }
    if (agent.strikes(Injection.READER_ERROR)) {
      device.breaks(audit.underWay(number()));
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

  int number() {
    return queuePair.qpNumber();
  }

  @Replaces
  void toInit(Set<AccessFlag> access) throws VerbsException {
    serving = access.contains(AccessFlag.REMOTE_READ);
    queuePair.toInit(access);
  }

  @Replaces
  void close() {
    queuePair.close();
    device.closed(this);
  }
}
