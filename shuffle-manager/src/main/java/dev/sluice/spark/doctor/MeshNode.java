package dev.sluice.spark.doctor;

import java.time.Duration;
import java.util.List;

/**
 * One node's part of the mesh: serves from the beginning to its end. One thread, which closes it.
 */
public interface MeshNode extends AutoCloseable {
  /** Where it serves; 0 where it does not. */
  int port();

  /** Why it takes no part; empty where it does. */
  String failure();

  /** Bytes of a packet that its port takes, once it has READ; 0 where that is not known. */
  int mtu();

  /**
   * READs from the others, one after the other, and from those that seem slow once more.
   *
   * @param limit after which no further one is tried; the last one may take a minute more
   * @return of those that were tried: not all where the time is over, or where it is this node from
   *     which nothing works
   */
  List<MeshRead> readFrom(List<Member> others, Duration limit);

  @Override
  void close();
}
