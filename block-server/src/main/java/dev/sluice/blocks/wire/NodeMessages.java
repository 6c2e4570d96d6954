// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.io.Input;
import dev.sluice.blocks.wire.Fields.ShuffleId;
import java.util.List;

/**
 * Messages by which processes of an application begin to use a node daemon. Executors send them
 * over the node's Unix domain socket: an executor's {@link dev.sluice.blocks.handover.NodeClient}
 * sends requests on its caller's thread, and the daemon answers each with one message, or closes
 * the connection, on that connection's thread. Readers of a MapReduce job send {@link FindJob} to
 * the daemon's port for all jobs, by {@link dev.sluice.blocks.client.BlockServerClient}. Ids,
 * fields and their order never change, as in {@link ControlMessages}.
 */
public final class NodeMessages {
  /** Messages of {@link ControlMessages} and of the driver's directory have lower ids. */
  private static final int FIRST_ID = 64;

  /**
   * The protocol also uses {@link ControlMessages#REFUSED}. These types and their successors have
   * ids from 64 to 71.
   */
  public static final List<MessageType<?>> TYPES =
      List.of(
          new MessageType<>(FIRST_ID, RegisterExecutor.class, () -> RegisterExecutor.CODEC),
          new MessageType<>(FIRST_ID + 1, Registered.class),
          new MessageType<>(FIRST_ID + 3, Accepted.class),
          new MessageType<>(FIRST_ID + 4, HandOver.class),
          new MessageType<>(FIRST_ID + 5, FindJob.class));

  private NodeMessages() {}

  /**
   * First message of an executor; answered by {@link Registered} or {@link
   * ControlMessages.Refused}.
   *
   * @param version protocol version of the executor; if not {@link #isSpoken}, the other fields are
   *     not decoded
   * @param secret the application's secret; empty if it does not authenticate
   */
  public record RegisterExecutor(int version, ProcessName executor, String secret) {
    /**
     * Grows with each change to any message between an application and a node, here or elsewhere:
     * all of them follow this one. A node also understands the previous version. A message that has
     * changed since has another id, and processes of the previous version understand the node's
     * answers.
     */
    public static final int VERSION = 5;

    /**
     * In this version, a reader asked for tables and for pieces in two questions. A node refuses
     * both, so that the reader fetches staged blocks by Spark's own transfer.
     */
    public static final int PREVIOUS = 4;

    private static final RecordCodec<RegisterExecutor> SPOKEN =
        RecordCodec.of(RegisterExecutor.class);

    /** Codec that reads nothing but the version if that is not spoken. */
    private static final RecordCodec<RegisterExecutor> CODEC =
        new RecordCodec<>(SPOKEN.writer(), RegisterExecutor::read, SPOKEN.leastBytes());

    public RegisterExecutor(ProcessName executor, String secret) {
      this(VERSION, executor, secret);
    }

    private static RegisterExecutor read(Input input) {
      int start = input.position();
      int version = input.readInt();
      if (isSpoken(version)) {
        input.setPosition(start);
        return SPOKEN.reader().apply(input);
      }
      input.setPosition(input.limit());
      return new RegisterExecutor(version, new ProcessName("", ""), "");
    }

    private static boolean isSpoken(int version) {
      return version == VERSION || version == PREVIOUS;
    }

    /** Returns true if a node understands the executor. */
    public boolean isSpoken() {
      return isSpoken(version);
    }

    @Override
    public String toString() {
      return "Enter of " + executor; // The secret is not for logs.
    }
  }

  /**
   * The node serves the application, which may be a MapReduce job.
   *
   * @param nodeId the {@link NodeId} by which the application's processes know the node's block
   *     server
   * @param host where the block server listens for them
   * @param port where the block server listens for them
   * @param provider of the node's device
   * @param folders folders for an executor's map outputs, one on each of the node's file systems;
   *     none for a job
   */
  public record Registered(
      String nodeId, String host, int port, String provider, List<String> folders) {}

  /**
   * A map output is in one of the application's folders; answered by {@link Accepted} or {@link
   * ControlMessages.Refused}.
   *
   * @param folder index of the folder in {@link Registered}; the node looks at no other disk
   */
  public record HandOver(@ShuffleId int shuffleId, long mapId, int folder) {}

  /**
   * Asks for the name of a MapReduce job's block server, which answers over the same connection;
   * answered by {@link Registered} or {@link ControlMessages.Refused}. The sender has authenticated
   * as a process of the job.
   *
   * @param application the job's {@link ProcessName#application}: its application id and {@code
   *     -mapreduce}
   */
  public record FindJob(String application) {}

  /** The node has taken over the map output. */
  public record Accepted() {}
}
