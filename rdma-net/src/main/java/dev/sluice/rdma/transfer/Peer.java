package dev.sluice.rdma.transfer;

/**
 * What the engine knows of a process that it READs from: a few hundred bytes, besides the one queue
 * pair. Engine thread only; forgotten when nothing speaks against the peer and nothing is wanted
 * from it.
 */
final class Peer {
  private final PeerAddress address;
  private final CircuitBreaker breaker;

  private final WaitingReads waiting = new WaitingReads();

  private Connection connection;
  private int connectFailures;
  private boolean scheduled;
  private int unanswered;

  Peer(PeerAddress address, CircuitBreaker breaker) {
    this.address = address;
    this.breaker = breaker;
  }

  PeerAddress address() {
    return address;
  }

  CircuitBreaker breaker() {
    return breaker;
  }

  WaitingReads waiting() {
    return waiting;
  }

  /** The queue pair that is connecting or connected; null when there is none to post on. */
  Connection connection() {
    return connection;
  }

  void connection(Connection current) {
    connection = current;
  }

  /** Counts attempts to connect that failed in a row. */
  int connectFailed() {
    return ++connectFailures;
  }

  void connectSettled() {
    connectFailures = 0;
  }

  /**
   * @return whether it was not scheduled before
   */
  boolean schedule() {
    boolean first = !scheduled;
    scheduled = true;
    return first;
  }

  void unschedule() {
    scheduled = false;
  }

  void admitted() {
    unanswered++;
  }

  void answered() {
    unanswered--;
  }

  boolean isForgettable(long nowNanos) {
    return unanswered == 0 && connection == null && breaker.isClear(nowNanos);
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
