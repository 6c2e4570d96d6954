// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import com.sun.management.ThreadMXBean;
import dev.sluice.benchmarks.Benchmark;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.Resource;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench verbs}: measures posting and polling by the binding against the same
 * loop in C. Both use one queue pair, in turn and on the main thread. Its adapter is that of the
 * tests' {@code fake_ibverbs.c}, loaded as this process's libibverbs; it completes a READ at
 * posting.
 */
@Command(
    name = "verbs",
    description = {
      "Measure posting and polling READs by the binding, compared with C",
      "Measures the CPU time of READs of 8 B, one at a time and in chains of 32, on a simulated"
          + " adapter that completes them at once. A run is invalid if posting and polling allocate"
          + " memory. Needs gcc and rdma-core's headers, but no RDMA device."
    })
public final class ReadLoopCommand extends Benchmark {
  /** READs of a chain; {@code read_loop.c} has room for 64. */
  private static final List<Integer> CHAINS = List.of(1, 32);

  /** Number of rounds until the JIT compilers are done. */
  private static final int WARM_UP = 5;

  /** Number of READs: about a tenth of a second; a multiple of each chain. */
  private static final int READS = 1 << 21;

  private static final String SOURCE = "read_loop.c";
  private static final String ADAPTER = "verbs/src/test/resources/dev/sluice/verbs/fake_ibverbs.c";

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds = 15;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Override
  protected void measure(Path directory) throws IOException {
    try {
      loadAdapter(directory);
      NativeFunction inC = compileLoop(directory);
      progress.expect(CHAINS.size());
      for (int chain : CHAINS) {
        progress.beginQuietly("chains of " + chain);
        try (ReadLoop loop = new ReadLoop(openAdapter(), chain)) {
          for (int round = -WARM_UP; round < rounds; round++) {
            measure(loop, inC, chain, round);
          }
        }
      }
    } catch (ProviderUnavailableException e) {
      problems.add(e.getMessage());
    }
  }

  /** Loads the adapter; this process must not have loaded another libibverbs. */
  private static void loadAdapter(Path directory) throws IOException {
    Path source = Path.of(System.getenv("SLUICE_HOME")).resolve(ADAPTER);
    NativeLibrary library = compile(source, directory.resolve("libibverbs.so.1"));
    library.require();
    NativeFunction.exported(library, "void fake_reset()", Failure.NONE).invoke();
  }

  /** Opens the adapter; the caller closes it. */
  private static IbvContext openAdapter() throws IOException {
    try (IbvDeviceList devices = IbvDeviceList.get()) {
      return devices.devices().getFirst().open();
    }
  }

  private static NativeFunction compileLoop(Path directory) throws IOException {
    Path source = directory.resolve(SOURCE);
    Files.writeString(source, Resource.text(ReadLoopCommand.class, SOURCE));
    return NativeFunction.exported(
        compile(source, directory.resolve("read_loop.so")),
        "int read_loop(ptr qp, ptr cq, ptr mr, int chain, int reads)",
        Failure.ERROR_NUMBER);
  }

  /**
   * Compiles a shared library, whose soname is its file name.
   *
   * @throws ProviderUnavailableException if there is no C compiler or no header of rdma-core
   */
  private static NativeLibrary compile(Path source, Path library)
      throws ProviderUnavailableException {
    List<String> gcc = new ArrayList<>(List.of("gcc", "-O2", "-fPIC", "-shared"));
    gcc.addAll(List.of("-Wl,-soname," + library.getFileName(), "-o", "" + library, "" + source));
    try {
      Commands.run(gcc);
      return new NativeLibrary(library.toString(), "gcc");
    } catch (IOException e) {
      throw new ProviderUnavailableException(
          "the simulated adapter needs gcc and rdma-core's headers (Debian, Ubuntu: apt-get install"
              + " gcc libibverbs-dev): "
              + e.getMessage());
    }
  }

  /** Measures each loop once, in alternating order; negative rounds are warm-up. */
  private void measure(ReadLoop loop, NativeFunction inC, int chain, int round) throws IOException {
    String name = "verbs-read-8B-x" + chain;
    boolean javaFirst = round % 2 == 0;
    long ofJava = javaFirst ? ofJava(loop, name, round >= 0) : 0;
    long start = threads.getCurrentThreadCpuTime();
    inC.call(loop.qp().pointer(), loop.cq().pointer(), loop.mr().pointer(), chain, READS);
    long ofC = threads.getCurrentThreadCpuTime() - start;
    ofJava = javaFirst ? ofJava : ofJava(loop, name, round >= 0);
    if (round >= 0) {
      pairs.less(name, "ns/READ", (double) ofJava / READS, "C", (double) ofC / READS);
    }
  }

  private long ofJava(ReadLoop loop, String name, boolean counts) throws IOException {
    long before = threads.getCurrentThreadAllocatedBytes();
    long start = threads.getCurrentThreadCpuTime();
    loop.run(READS);
    long nanos = threads.getCurrentThreadCpuTime() - start;
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    if (counts && allocated >= READS) {
      problems.add("%s: %d bytes were allocated by %d READs".formatted(name, allocated, READS));
    }
    return nanos;
  }

  /**
   * READs of 8 bytes by one queue pair in chains. A chain is written and posted, and its
   * completions are polled and checked, before the next chain. The loop of {@code read_loop.c} does
   * the same on the same queue pair, so a change here needs the same change there. {@link
   * ReadLoopCommand} uses and closes it on one thread. It allocates no memory while it runs, which
   * the command checks.
   */
  static final class ReadLoop implements AutoCloseable {
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
}
