package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.List;

/**
 * The messages between an executor and the block server of its node, over the node's Unix domain
 * socket.
 */
public final class NodeMessages {
  /** Those of {@link ControlMessages} and of the driver's directory are lower. */
  private static final int FIRST_ID = 64;

  /**
   * Beside {@link ControlMessages#REFUSED}. Ids from 64 to 71 are taken by these and their
   * successors.
   */
  public static final List<MessageType<?>> TYPES =
      List.of(
          new MessageType<>(FIRST_ID, Enter.class, Enter::write, Enter::read),
          new MessageType<>(FIRST_ID + 1, Entered.class, Entered::write, Entered::read),
          new MessageType<>(FIRST_ID + 2, HandOver.class, HandOver::write, HandOver::readUnnamed),
          new MessageType<>(FIRST_ID + 3, Taken.class, Taken::write, Taken::read),
          new MessageType<>(FIRST_ID + 4, HandOver.class, HandOver::write, HandOver::read));

  private NodeMessages() {}

  /**
   * The first message of an executor; answered by {@link Entered} or {@link
   * ControlMessages.Refused}.
   *
   * @param version of the protocol that the executor speaks; where it is not {@link #isSpoken} the
   *     rest is not known
   * @param secret the application's; empty where it does not authenticate
   */
  public record Enter(int version, ProcessName executor, String secret) {
    /**
     * Another one with each change to what an application and a node say to each other, here or
     * anywhere: all of it is said after this. A node understands the version before as well, in
     * which a message that has changed since has another id; and what it answers is understood
     * there.
     */
    public static final int VERSION = 3;

    /** In which {@link HandOver} named no folder. */
    public static final int PREVIOUS = 2;

    public Enter(ProcessName executor, String secret) {
      this(VERSION, executor, secret);
    }

    private void write(Output output) {
      output.writeInt(version);
      Fields.writeProcess(output, executor);
      Fields.writeString(output, secret);
    }

    private static Enter read(Input input) {
      int version = input.readInt();
      if (!isSpoken(version)) {
        input.setPosition(input.limit());
        return new Enter(version, new ProcessName("", ""), "");
      }
      return new Enter(version, Fields.readProcess(input), Fields.readString(input));
    }

    private static boolean isSpoken(int version) {
      return version == VERSION || version == PREVIOUS;
    }

    /** Whether a node understands the executor. */
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
   * @param nodeId the {@link NodeId}, what peers in the application know the node's block server by
   * @param host where it listens for them
   * @param port where it listens for them
   * @param provider of its device
   * @param folders of the application, one on each of the node's file systems
   */
  public record Entered(
      String nodeId, String host, int port, String provider, List<String> folders) {
    private void write(Output output) {
      Fields.writeString(output, nodeId);
      Fields.writeString(output, host);
      output.writeInt(port);
      Fields.writeString(output, provider);
      Fields.writeAll(output, folders, (folder, out) -> Fields.writeString(out, folder));
    }

    private static Entered read(Input input) {
      return new Entered(
          Fields.readString(input),
          Fields.readString(input),
          input.readInt(),
          Fields.readString(input),
          Fields.readAll(input, 1, Fields::readString));
    }
  }

  /**
   * A map output is in one of the application's folders; answered by {@link Taken} or {@link
   * ControlMessages.Refused}.
   *
   * @param folder the number of it in {@link Entered}: no other disk is looked at; or {@link
   *     #UNNAMED}
   */
  public record HandOver(int shuffleId, long mapId, int folder) {
    /** Of version 2. */
    public static final int UNNAMED = -1;

    private void write(Output output) {
      output.writeInt(shuffleId);
      output.writeLong(mapId);
      output.writeInt(folder);
    }

    private static HandOver read(Input input) {
      return new HandOver(Fields.readShuffleId(input), input.readLong(), input.readInt());
    }

    private static HandOver readUnnamed(Input input) {
      return new HandOver(Fields.readShuffleId(input), input.readLong(), UNNAMED);
    }
  }

  /** The map output is the node's. */
  public record Taken() {
    private void write(Output output) {}

    private static Taken read(Input input) {
      return new Taken();
    }
  }
}
