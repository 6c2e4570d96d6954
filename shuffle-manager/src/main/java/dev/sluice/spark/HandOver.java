package dev.sluice.spark;

import java.io.IOException;

/**
 * Has the node's block server keep what an executor's map tasks write. Their threads call it; the
 * executor's runtime closes it.
 */
interface HandOver extends AutoCloseable {
  /** What is written stays the executor's. */
  HandOver NONE =
      new HandOver() {
        @Override
        public void expect() {}

        @Override
        public void committed(int shuffleId, long mapId) {}

        @Override
        public void close() {}
      };

  /**
   * A map task begins.
   *
   * @throws IOException where nobody would take what it writes, and somebody has to; the message is
   *     the reason
   */
  void expect() throws IOException;

  /**
   * A map task has committed.
   *
   * @throws IOException where nobody has taken what it wrote, and somebody has to; the message is
   *     the reason
   */
  void committed(int shuffleId, long mapId) throws IOException;

  @Override
  void close();
}
