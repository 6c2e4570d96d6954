// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.List;

/**
 * Messages between an executor and the block server of its node, over the node's Unix domain
 * socket. An executor's {@link dev.sluice.blocks.handover.NodeClient} sends requests on its
 * caller's thread. The daemon answers each with one message, or closes the connection, on that
 * connection's thread. Ids, fields and their order never change, as in {@link ControlMessages}.
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
          new MessageType<>(
              FIRST_ID, RegisterExecutor.class, RegisterExecutor::write, RegisterExecutor::read),
          new MessageType<>(FIRST_ID + 1, Registered.class, Registered::write, Registered::read),
          new MessageType<>(FIRST_ID + 3, Accepted.class, Accepted::write, Accepted::read),
          new MessageType<>(FIRST_ID + 4, HandOver.class, HandOver::write, HandOver::read));

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
    public static final int VERSION = 4;

    /** In this version, messages of {@link ControlMessages.Content} named no process. */
    public static final int PREVIOUS = 3;

    public RegisterExecutor(ProcessName executor, String secret) {
      this(VERSION, executor, secret);
    }

    private void write(Output output) {
      output.writeInt(version);
      Fields.writeProcess(output, executor);
      Fields.writeString(output, secret);
    }

    private static RegisterExecutor read(Input input) {
      int version = input.readInt();
      if (!isSpoken(version)) {
        input.setPosition(input.limit());
        return new RegisterExecutor(version, new ProcessName("", ""), "");
      }
      return new RegisterExecutor(version, Fields.readProcess(input), Fields.readString(input));
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
   * The node serves the application.
   *
   * @param nodeId the {@link NodeId} by which the application's processes know the node's block
   *     server
   * @param host where the block server listens for them
   * @param port where the block server listens for them
   * @param provider of the node's device
   * @param folders folders of the application, one on each of the node's file systems
   */
  public record Registered(
      String nodeId, String host, int port, String provider, List<String> folders) {
    private void write(Output output) {
      Fields.writeString(output, nodeId);
      Fields.writeString(output, host);
      output.writeInt(port);
      Fields.writeString(output, provider);
      Fields.writeAll(output, folders, (folder, out) -> Fields.writeString(out, folder));
    }

    private static Registered read(Input input) {
      return new Registered(
          Fields.readString(input),
          Fields.readString(input),
          input.readInt(),
          Fields.readString(input),
          Fields.readAll(input, 1, Fields::readString));
    }
  }

  /**
   * A map output is in one of the application's folders; answered by {@link Accepted} or {@link
   * ControlMessages.Refused}.
   *
   * @param folder index of the folder in {@link Registered}; the node looks at no other disk
   */
  public record HandOver(int shuffleId, long mapId, int folder) {
    private void write(Output output) {
      output.writeInt(shuffleId);
      output.writeLong(mapId);
      output.writeInt(folder);
    }

    private static HandOver read(Input input) {
      return new HandOver(Fields.readShuffleId(input), input.readLong(), input.readInt());
    }
  }

  /** The node has taken over the map output. */
  public record Accepted() {
    private void write(Output output) {}

    private static Accepted read(Input input) {
      return new Accepted();
    }
  }
}
