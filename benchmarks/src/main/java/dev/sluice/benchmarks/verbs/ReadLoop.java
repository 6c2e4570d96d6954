// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.lang.foreign.Arena;

/**
 * READs of 8 bytes by one queue pair in chains. A chain is written and posted, and its completions
 * are polled and checked, before the next chain. The loop of {@code read_loop.c} does the same on
 * the same queue pair, so a change here needs the same change there. {@link ReadLoopCommand} uses
 * and closes it on one thread. It allocates no memory while it runs, which the command checks.
 */
final class ReadLoop implements AutoCloseable {
  private static final int BYTES = 8;

  private final Arena arena = Arena.ofShared();
  private final int chain;
  private final IbvContext context;
  private final IbvCq cq;
  private final IbvQp qp;
  private final IbvMr mr;
  private final IbvSendWrList requests;
  private final IbvWcArray completions;

  /**
   * @param context context that this object closes, and with it the objects created from it
   */
  ReadLoop(IbvContext context, int chain) throws VerbsException {
    this.context = context;
    this.chain = chain;
    IbvPd pd = context.allocPd();
    cq = context.createCq(chain);
    qp = pd.createQp(IbvQpInitAttr.of(IbvQp.Type.RC, cq, new IbvQpCap(chain, 1, 1, 1, 0)));
    int access = IbvMr.Access.LOCAL_WRITE | IbvMr.Access.REMOTE_READ;
    mr = pd.regMr(arena.allocate(2 * BYTES, BYTES), access);
    requests = new IbvSendWrList(arena, chain, 1);
    completions = new IbvWcArray(arena, chain);
  }

  IbvQp qp() {
    return qp;
  }

  IbvCq cq() {
    return cq;
  }

  IbvMr mr() {
    return mr;
  }

  /**
   * @param reads number of READs, a multiple of the chain
   * @throws IOException if a completion is not that of the posted READ
   */
  void run(int reads) throws IOException {
    long target = mr.address();
    int lkey = mr.lkey();
    int rkey = mr.rkey();
    for (int done = 0; done < reads; done += chain) {
      requests.clear();
      for (int i = 0; i < chain; i++) {
        requests
            .add(done + i, IbvSendWrList.Opcode.RDMA_READ, IbvSendWrList.Flags.SIGNALED)
            .sge(target, BYTES, lkey)
            .rdma(target + BYTES, rkey);
      }
      qp.postSend(requests);
      poll(done);
    }
  }

  private void poll(int first) throws IOException {
    for (int polled = 0; polled < chain; ) {
      int count = cq.poll(completions);
      for (int i = 0; i < count; i++) {
        if (completions.status(i) != IbvWcArray.Status.SUCCESS
            || completions.wrId(i) != first + polled + i) {
          throw new IOException(
              "READ %d completed with %s; expected READ %d with SUCCESS"
                  .formatted(completions.wrId(i), completions.status(i), first + polled + i));
        }
      }
      polled += count;
    }
  }

  @Override
  public void close() throws VerbsException {
    context.close();
    arena.close();
  }
}
